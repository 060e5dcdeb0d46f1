/** What becomes of answers once it is settled which model gave them. */
export interface StampingHooks<Held> {
  /** These are verdicts, of the model with this fingerprint; null for a guard that does not tell its model. */
  stamped(held: readonly Held[], fingerprintId: string | null): void;
  /** It cannot be said which model gave these: they are to be judged again. */
  voided(held: readonly Held[]): void;
}

/** Finds out which model gave an answer. */
export interface Stamping<Held> {
  /** To be noted when a request is sent. */
  readonly epoch: number;
  /** Whether a change is suspected: nothing sent now could be stamped, so nothing should be sent. */
  readonly suspected: boolean;
  /**
   * A reply came in: true when its results may be held, false when they are void already because the model changed
   * since `epoch`, as a reading or this reply's own model version shows.
   */
  replied(epoch: number, modelVersion: string | null): boolean;
  hold(held: Held, epoch: number): void;
  /** Goes on with what is held, as far as that can be done now. Call after every change of load. */
  consider(): void;
  stop(): void;
}

/** For a guard that does not tell which model it runs: answers are verdicts at once, and name none. */
export class Unstamped<Held> implements Stamping<Held> {
  readonly epoch = 0;
  readonly suspected = false;
  readonly #hooks: StampingHooks<Held>;
  #held: Held[] = [];

  constructor(hooks: StampingHooks<Held>) {
    this.#hooks = hooks;
  }

  replied(): boolean {
    return true;
  }

  hold(held: Held): void {
    this.#held.push(held);
  }

  consider(): void {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    this.#hooks.stamped(held, null);
  }

  stop(): void {
    this.#held = [];
  }
}
