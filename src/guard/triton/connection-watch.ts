import { setTimeout as sleep } from 'node:timers/promises';

/** How long nothing may come back before the connection is tested, in milliseconds; doubled after each test it passes. */
const FIRST_SILENCE_MS = 500;
const MAX_SILENCE_MS = 8000;
/**
 * Tests in a row that must find the connection silent: behind one address there may be several servers, of which one
 * does not answer for a while and another takes the new connection.
 */
const TESTS_FAILED = 3;
/** How long the test may take on this connection before it is made on a new one, too, in milliseconds. */
const PATIENCE_MS = 500;
/** How long an answer on this connection may come after that on the new one, in milliseconds. */
const GRACE_MS = 500;

export interface WatchHooks {
  /** Asks the server for a sign of life, on this connection or on a new one. False when none comes; never rejects. */
  isAlive(on: 'this connection' | 'a new connection', signal: AbortSignal): Promise<boolean>;
  /** The server answers, but not on this connection. */
  stuck(): void;
}

/**
 * Notices a connection on which nothing comes back any more. Node's HTTP/2 client stops reading for good when it meets a
 * header that it cannot decode, such as an error text of more than 64 KiB, and tells nobody: every call runs into its
 * deadline. A server that is busy, or blocked, looks the same; so the connection counts as stuck only when the server
 * answers on another one meanwhile, several times in a row.
 */
export class ConnectionWatch {
  readonly #hooks: WatchHooks;
  readonly #life = new AbortController();
  #pending = 0;
  #heardAt = 0;
  #silenceMs = FIRST_SILENCE_MS;
  #timer: NodeJS.Timeout | null = null;
  #testing = false;
  /** Tests in a row that found the connection silent. */
  #failed = 0;

  constructor(hooks: WatchHooks) {
    this.#hooks = hooks;
  }

  /** A call was sent. */
  sent(): void {
    if (this.#pending++ === 0) this.#heardAt = performance.now();
    this.#schedule();
  }

  /** A call is over; `answered` unless that was for want of an answer. */
  ended(answered: boolean): void {
    this.#pending--;
    if (!answered) return;
    this.#heardAt = performance.now();
    this.#failed = 0;
    this.#silenceMs = FIRST_SILENCE_MS;
  }

  stop(): void {
    this.#life.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    if (this.#timer !== null || this.#testing || this.#pending === 0 || this.#life.signal.aborted) return;
    const dueMs = this.#heardAt + this.#silenceMs - performance.now();
    // The calls themselves keep the process running.
    this.#timer = setTimeout(() => this.#look(), Math.max(1, Math.ceil(dueMs))).unref();
  }

  #look(): void {
    this.#timer = null;
    if (this.#pending > 0 && performance.now() - this.#heardAt >= this.#silenceMs) void this.#test();
    else this.#schedule();
  }

  async #test(): Promise<void> {
    this.#testing = true;
    const stuck = await this.#isStuck();
    this.#testing = false;
    if (this.#life.signal.aborted) return;
    this.#failed = stuck ? this.#failed + 1 : 0;
    if (this.#failed >= TESTS_FAILED) {
      this.#hooks.stuck();
      return;
    }
    this.#heardAt = performance.now();
    this.#silenceMs = stuck ? FIRST_SILENCE_MS : Math.min(MAX_SILENCE_MS, this.#silenceMs * 2);
    this.#schedule();
  }

  async #isStuck(): Promise<boolean> {
    const test = new AbortController();
    const signal = AbortSignal.any([test.signal, this.#life.signal]);
    const heardBefore = this.#heardAt;
    const here = this.#hooks.isAlive('this connection', signal);
    try {
      if (await within(PATIENCE_MS, here, signal)) return false;
      if (!(await this.#hooks.isAlive('a new connection', signal))) return false;
      return !(await within(GRACE_MS, here, signal)) && this.#heardAt === heardBefore;
    } finally {
      test.abort();
    }
  }
}

/** What comes within the time, or false. */
async function within(ms: number, answer: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(ms, false, { signal: AbortSignal.any([over.signal, signal]), ref: false });
  try {
    return await Promise.race([answer, late.catch(() => false)]);
  } finally {
    over.abort();
  }
}
