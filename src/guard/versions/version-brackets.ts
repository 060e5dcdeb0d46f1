import type { Reading } from '../protocol/connection.ts';
import type { Stamping, StampingHooks } from './stamping.ts';

/** How busy the endpoint is. It decides how soon a reading is worth its cost. */
export type Load = 'busy' | 'starved' | 'idle';

/**
 * Min time between the starts of two readings, in milliseconds. Starved: nothing is left to send, so the callers may be
 * waiting for the answers kept here. Idle: nothing is in flight either.
 */
const INTERVAL_MS: Readonly<Record<Load, number>> = { busy: 500, starved: 50, idle: 0 };

interface BracketHooks<Pending> extends StampingHooks<Pending> {
  /** Asks the guard for its version. */
  read(): Promise<Reading>;
  load(): Load;
  /** Called with every reading; false ends the sequence, because that model must not be used. */
  approve(reading: Reading): boolean;
  /** A reading failed. Returns how many milliseconds to wait before the next, or null when there will be none. */
  failed(error: unknown): number | null;
}

interface Bracket<Pending> {
  readonly pending: Pending;
  readonly epoch: number;
}

/**
 * The version readings of one endpoint, and the answers that wait for them. Invariant: an answer is stamped with a model
 * only if the last reading before its request and the first reading after its reply both named that model. One reading
 * serves every answer around it, and everyone who asks for the model. Each sign of a change starts a new epoch; answers of an earlier epoch are void.
 */
export class VersionBrackets<Pending> implements Stamping<Pending> {
  readonly #hooks: BracketHooks<Pending>;
  #current: Reading;
  #epoch = 0;
  /** Answers that the next reading to start will close. */
  #waiting: Bracket<Pending>[] = [];
  /** Answers that the reading in progress will close: they arrived before it started. */
  #closing: Bracket<Pending>[] = [];
  /** Those who asked for the model: the next reading to start answers them. */
  #asking: ((model: string | null) => void)[] = [];
  /** The reading in progress answers these: they asked before it started. */
  #answering: ((model: string | null) => void)[] = [];
  #reading = false;
  #suspectedWhileReading = false;
  #suspected = false;
  #startedAt = Number.NEGATIVE_INFINITY;
  /** After a failed reading: the earliest start of the next. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = 0;
  #stopped = false;

  constructor(first: Reading, hooks: BracketHooks<Pending>) {
    this.#current = first;
    this.#hooks = hooks;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get suspected(): boolean {
    return this.#suspected;
  }

  replied(epoch: number, modelVersion: string | null): boolean {
    if (epoch !== this.#epoch) return false;
    if (modelVersion === this.#current.modelVersion) return true;
    this.#epoch++;
    this.#suspected = true;
    this.#suspectedWhileReading = this.#reading;
    return false;
  }

  keep(pending: Pending, epoch: number): void {
    this.#waiting.push({ pending, epoch });
  }

  /** Starts a reading, now or when it is due, if anything waits for one. */
  consider(): void {
    if (this.#stopped || this.#reading) return;
    if (this.#waiting.length === 0 && this.#asking.length === 0 && !this.#suspected) return;
    const interval = this.#suspected ? 0 : this.#intervalMs();
    const due = Math.max(this.#startedAt + interval, this.#notBefore);
    const now = performance.now();
    if (now >= due) this.#start(now);
    else this.#schedule(due, now);
  }

  readModel(): Promise<string | null> {
    if (this.#stopped) return Promise.resolve(null);
    const asked = new Promise<string | null>((resolve) => this.#asking.push(resolve));
    this.consider();
    return asked;
  }

  stop(): void {
    this.#stopped = true;
    this.#clearTimer();
    this.#waiting = [];
    this.#closing = [];
    this.#answer([...this.#answering, ...this.#asking], null);
    this.#answering = [];
    this.#asking = [];
  }

  #answer(asked: readonly ((model: string | null) => void)[], model: string | null): void {
    for (const resolve of asked) resolve(model);
  }

  /** Whoever asks for the model of an idle guard may do so again and again. */
  #intervalMs(): number {
    const load = this.#hooks.load();
    return INTERVAL_MS[load === 'idle' && this.#waiting.length === 0 ? 'starved' : load];
  }

  #schedule(due: number, now: number): void {
    if (this.#timer !== null && this.#timerAt <= due) return;
    this.#clearTimer();
    this.#timerAt = due;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.consider();
      },
      Math.ceil(due - now),
    );
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #start(now: number): void {
    this.#clearTimer();
    this.#reading = true;
    this.#startedAt = now;
    this.#closing = this.#waiting;
    this.#waiting = [];
    this.#answering = this.#asking;
    this.#asking = [];
    this.#hooks.read().then(
      (reading) => this.#finish(reading),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#reading = false;
    if (this.#stopped) return;
    // The next reading closes what this one would have.
    this.#waiting = [...this.#closing, ...this.#waiting];
    this.#closing = [];
    this.#asking = [...this.#answering, ...this.#asking];
    this.#answering = [];
    const waitMs = this.#hooks.failed(error);
    if (waitMs === null) return;
    this.#notBefore = performance.now() + waitMs;
    this.consider();
  }

  #finish(reading: Reading): void {
    this.#reading = false;
    const asked = this.#answering;
    this.#answering = [];
    if (this.#stopped || !this.#hooks.approve(reading)) return this.#answer(asked, null);
    const previous = this.#current;
    this.#current = reading;
    if (
      reading.fingerprint.id !== previous.fingerprint.id ||
      reading.modelVersion !== previous.modelVersion
    ) {
      this.#epoch++;
    }
    // A reading in progress when the suspicion arose may have seen the old model: one more is needed.
    this.#suspected = this.#suspectedWhileReading;
    this.#suspectedWhileReading = false;
    const closing = this.#closing;
    this.#closing = [];
    const kept: Pending[] = [];
    const voided: Pending[] = [];
    for (const { pending, epoch } of closing) (epoch === this.#epoch ? kept : voided).push(pending);
    if (kept.length > 0) this.#hooks.stamped(kept, reading.fingerprint.id);
    if (voided.length > 0) this.#hooks.voided(voided);
    this.#answer(asked, reading.fingerprint.id);
    this.consider();
  }
}
