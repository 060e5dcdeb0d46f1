import type { Reading } from '../protocol/connection.ts';

/** Load of the endpoint. It determines how soon a reading is worth its cost. */
export type Load = 'busy' | 'starved' | 'idle';

/**
 * Min interval between the starts of two readings, in milliseconds. Starved: nothing is left to send, so the callers
 * may be waiting for the answers kept here. Idle: nothing is in flight either.
 */
const INTERVAL_MS: Readonly<Record<Load, number>> = { busy: 500, starved: 50, idle: 0 };

interface BracketHooks<Pending> {
  /** Asks the guard for its version. */
  read(): Promise<Reading>;
  load(): Load;
  /** Called with every reading; returns false to end the sequence, because that model must not be used. */
  approve(reading: Reading): boolean;
  /**
   * Called when a reading failed, the `inRow`th in a row. Returns the milliseconds to wait before the next, or null to
   * end the sequence.
   */
  failed(error: unknown, inRow: number): number | null;
  /** Called with answers that are verdicts of the model with this fingerprint. */
  stamped(pending: readonly Pending[], fingerprintId: string): void;
  /** Called with answers whose model is unknown: their tasks must be judged again. */
  voided(pending: readonly Pending[]): void;
}

/** Answers and questions that arrived before a reading, which closes the round. */
interface Round<Pending> {
  readonly answers: { readonly pending: Pending; readonly epoch: number }[];
  /** Callers that asked for the model. */
  readonly askers: ((model: string | null) => void)[];
}

/**
 * The version readings of one endpoint, and the answers that wait for them. Invariant: an answer is stamped with a
 * model only if the last reading before its request and the first reading after its reply both named that model. One
 * reading serves every answer around it, and every caller that asks for the model. Each sign of a change starts a new
 * epoch; answers of an earlier epoch are void.
 */
export class VersionBrackets<Pending> {
  readonly #hooks: BracketHooks<Pending>;
  #current: Reading;
  #epoch = 0;
  /** Closed by the next reading to start. */
  #next: Round<Pending> = { answers: [], askers: [] };
  /** Closed by the reading in progress; null if there is none. */
  #closing: Round<Pending> | null = null;
  /** Readings that must finish before the model is known again. */
  #needed = 0;
  #failedInRow = 0;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** Earliest start of the next reading after a failed one. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #stopped = false;

  constructor(first: Reading, hooks: BracketHooks<Pending>) {
    this.#current = first;
    this.#hooks = hooks;
  }

  /** Must be noted when a request is sent. Increases with every sign that the model changed. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Whether a change of model is suspected. A request sent now could not be stamped, so none should be. */
  get isSuspected(): boolean {
    return this.#needed > 0;
  }

  /** Whether the last reading failed. */
  get isFailing(): boolean {
    return this.#failedInRow > 0;
  }

  /**
   * Handles the arrival of a reply. Returns true if its answers may be kept; false if they are void already, because a
   * reading or this reply's model version shows that the model changed since `epoch`.
   */
  replied(epoch: number, modelVersion: string | null): boolean {
    if (epoch !== this.#epoch) return false;
    if (modelVersion === this.#current.modelVersion) return true;
    this.#epoch++;
    // A reading in progress may have seen the old model: one more is needed.
    this.#needed = this.#closing === null ? 1 : 2;
    return false;
  }

  /** Keeps answers until the model that gave them is known. */
  keep(pending: Pending, epoch: number): void {
    this.#next.answers.push({ pending, epoch });
  }

  /** Starts a reading, now or when it is due, if anything waits for one. Must be called after every change of load. */
  consider(): void {
    if (this.#stopped || this.#closing !== null) return;
    const { answers, askers } = this.#next;
    if (answers.length === 0 && askers.length === 0 && !this.isSuspected) return;
    const interval = this.isSuspected ? 0 : this.#intervalMs();
    const due = Math.max(this.#startedAt + interval, this.#notBefore);
    const now = performance.now();
    if (now >= due) this.#start(now);
    else this.#schedule(due, now);
  }

  /** Id of the model named by a reading that begins after this call. Null if the readings end before. */
  readModel(): Promise<string | null> {
    if (this.#stopped) return Promise.resolve(null);
    const asked = new Promise<string | null>((resolve) => this.#next.askers.push(resolve));
    this.consider();
    return asked;
  }

  stop(): void {
    this.#stopped = true;
    this.#clearTimer();
    for (const resolve of [...(this.#closing?.askers ?? []), ...this.#next.askers]) resolve(null);
  }

  /** Interval to the next reading. Not 0 if no answers wait: an idle guard may be asked for its model repeatedly. */
  #intervalMs(): number {
    const load = this.#hooks.load();
    return INTERVAL_MS[load === 'idle' && this.#next.answers.length === 0 ? 'starved' : load];
  }

  #schedule(due: number, now: number): void {
    if (this.#timerAt <= due) return;
    this.#clearTimer();
    this.#timerAt = due;
    this.#timer = setTimeout(
      () => {
        this.#clearTimer();
        this.consider();
      },
      Math.ceil(due - now),
    );
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timerAt = Number.POSITIVE_INFINITY;
  }

  #start(now: number): void {
    this.#clearTimer();
    this.#startedAt = now;
    const closing = this.#next;
    this.#closing = closing;
    this.#next = { answers: [], askers: [] };
    this.#hooks.read().then(
      (reading) => this.#finish(reading, closing),
      (error: unknown) => this.#fail(error, closing),
    );
  }

  #fail(error: unknown, { answers, askers }: Round<Pending>): void {
    if (this.#stopped) return;
    this.#closing = null;
    // The next reading closes what this one would have closed.
    this.#next.answers.unshift(...answers);
    this.#next.askers.unshift(...askers);
    const waitMs = this.#hooks.failed(error, ++this.#failedInRow);
    if (waitMs === null) return;
    this.#notBefore = performance.now() + waitMs;
    this.consider();
  }

  #finish(reading: Reading, { answers, askers }: Round<Pending>): void {
    if (this.#stopped) return;
    this.#closing = null;
    this.#failedInRow = 0;
    if (!this.#hooks.approve(reading)) {
      for (const resolve of askers) resolve(null);
      return;
    }
    const previous = this.#current;
    this.#current = reading;
    if (
      reading.fingerprint.id !== previous.fingerprint.id ||
      reading.modelVersion !== previous.modelVersion
    ) {
      this.#epoch++;
    }
    this.#needed = Math.max(0, this.#needed - 1);
    const kept: Pending[] = [];
    const voided: Pending[] = [];
    for (const { pending, epoch } of answers) (epoch === this.#epoch ? kept : voided).push(pending);
    if (kept.length > 0) this.#hooks.stamped(kept, reading.fingerprint.id);
    if (voided.length > 0) this.#hooks.voided(voided);
    for (const resolve of askers) resolve(reading.fingerprint.id);
    this.consider();
  }
}
