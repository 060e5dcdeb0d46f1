/** What becomes of answers once it is known which model gave them. */
export interface StampingHooks<Pending> {
  /** These are verdicts of the model with this fingerprint; null if it is not named. */
  stamped(pending: readonly Pending[], fingerprintId: string | null): void;
  /** It is not known which model gave these: they must be judged again. */
  voided(pending: readonly Pending[]): void;
}

/** Finds out which model gave an answer. */
export interface Stamping<Pending> {
  /** To note when a request is sent. Increases with every sign that the model changed. */
  readonly epoch: number;
  /** Whether a change of model is suspected. A request sent now could not be stamped, so none should be. */
  readonly suspected: boolean;
  /**
   * A reply arrived. True when its answers may be kept; false when they are void already, because a reading or this
   * reply's model version shows that the model changed since `epoch`.
   */
  replied(epoch: number, modelVersion: string | null): boolean;
  /** Keeps answers until it is known which model gave them. */
  keep(pending: Pending, epoch: number): void;
  /** Stamps what can be stamped now. Call after every change of load. */
  consider(): void;
  /**
   * Id of the model that a version reading names which begins after this call. Null when the guard names none, or the
   * readings end before.
   */
  readModel(): Promise<string | null>;
  stop(): void;
}

/** Where no model need be named, or the guard does not report it: answers become verdicts at once, without a fingerprint. */
export class Unstamped<Pending> implements Stamping<Pending> {
  readonly epoch = 0;
  readonly suspected = false;
  readonly #hooks: StampingHooks<Pending>;
  #pending: Pending[] = [];

  constructor(hooks: StampingHooks<Pending>) {
    this.#hooks = hooks;
  }

  replied(): boolean {
    return true;
  }

  keep(pending: Pending): void {
    this.#pending.push(pending);
  }

  consider(): void {
    if (this.#pending.length === 0) return;
    const pending = this.#pending;
    this.#pending = [];
    this.#hooks.stamped(pending, null);
  }

  readModel(): Promise<null> {
    return Promise.resolve(null);
  }

  stop(): void {
    this.#pending = [];
  }
}
