import type { Reading } from '../protocol/connection.ts';
import type { Stamping, StampingHooks } from './stamping.ts';

/** How busy the endpoint is, which decides how soon a reading is worth its cost. */
export type Load = 'busy' | 'starved' | 'idle';

/**
 * Least time between the beginnings of two readings, in milliseconds. Starved: nothing is left to send, so whoever
 * feeds the endpoint may be waiting for the results held here. Idle: nothing is in flight either.
 */
const INTERVAL_MS: Readonly<Record<Load, number>> = { busy: 500, starved: 50, idle: 0 };

export interface BracketHooks<Held> extends StampingHooks<Held> {
  /** Asks the guard for its version. */
  read(): Promise<Reading>;
  load(): Load;
  /** Called with every reading; false stops here, because that model must not be used. */
  accept(reading: Reading): boolean;
  /** A reading failed: how many milliseconds to wait before the next, or null when the endpoint is given up. */
  failed(error: unknown): number | null;
}

interface Bracket<Held> {
  readonly held: Held;
  readonly epoch: number;
}

/**
 * The sequence of version readings of one endpoint, and the results waiting for it. A result was judged by the
 * model that the readings before its request and after its reply agree on; readings are shared by everything they
 * lie around. An epoch ends with every sign of a change: a result whose epoch is over is judged again.
 */
export class VersionBrackets<Held> implements Stamping<Held> {
  readonly #hooks: BracketHooks<Held>;
  #current: Reading;
  #epoch = 0;
  /** Answered; the next reading to begin closes them. */
  #waiting: Bracket<Held>[] = [];
  /** Answered before the reading in progress began. */
  #closing: Bracket<Held>[] = [];
  #reading = false;
  #suspectedWhileReading = false;
  #suspected = false;
  #begunAt = Number.NEGATIVE_INFINITY;
  /** After a failed reading: when the next may begin. */
  #notBefore = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #timerAt = 0;
  #stopped = false;

  constructor(first: Reading, hooks: BracketHooks<Held>) {
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

  hold(held: Held, epoch: number): void {
    this.#waiting.push({ held, epoch });
  }

  /** Begins a reading, now or when its time has come, if anything waits for one. */
  consider(): void {
    if (this.#stopped || this.#reading) return;
    if (this.#waiting.length === 0 && !this.#suspected) return;
    const interval = this.#suspected ? 0 : INTERVAL_MS[this.#hooks.load()];
    const due = Math.max(this.#begunAt + interval, this.#notBefore);
    const now = performance.now();
    if (now >= due) this.#begin(now);
    else this.#schedule(due, now);
  }

  stop(): void {
    this.#stopped = true;
    this.#clearTimer();
    this.#waiting = [];
    this.#closing = [];
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

  #begin(now: number): void {
    this.#clearTimer();
    this.#reading = true;
    this.#begunAt = now;
    this.#closing = this.#waiting;
    this.#waiting = [];
    this.#hooks.read().then(
      (reading) => this.#finish(reading),
      (error: unknown) => this.#fail(error),
    );
  }

  #fail(error: unknown): void {
    this.#reading = false;
    if (this.#stopped) return;
    // What this reading would have closed, the next one closes.
    this.#waiting = [...this.#closing, ...this.#waiting];
    this.#closing = [];
    const waitMs = this.#hooks.failed(error);
    if (waitMs === null) return;
    this.#notBefore = performance.now() + waitMs;
    this.consider();
  }

  #finish(reading: Reading): void {
    this.#reading = false;
    if (this.#stopped || !this.#hooks.accept(reading)) return;
    const previous = this.#current;
    this.#current = reading;
    if (
      reading.fingerprint.id !== previous.fingerprint.id ||
      reading.modelVersion !== previous.modelVersion
    ) {
      this.#epoch++;
    }
    // A reading that was under way when the suspicion arose may still have seen the old model.
    this.#suspected = this.#suspectedWhileReading;
    this.#suspectedWhileReading = false;
    const closing = this.#closing;
    this.#closing = [];
    const kept: Held[] = [];
    const voided: Held[] = [];
    for (const { held, epoch } of closing) (epoch === this.#epoch ? kept : voided).push(held);
    if (kept.length > 0) this.#hooks.stamped(kept, reading.fingerprint.id);
    if (voided.length > 0) this.#hooks.voided(voided);
    this.consider();
  }
}
