import { setTimeout as sleep } from 'node:timers/promises';

/** Silence before the connection is tested, in milliseconds. Doubles after each test it passes, up to the max. */
const MIN_SILENCE_MS = 500;
const MAX_SILENCE_MS = 8000;
/**
 * Failed tests in a row after which the connection counts as stuck. One is not enough: behind one address there may be
 * several servers, and the test connection may reach another one.
 */
const MAX_FAILED_TESTS = 3;
/** How long the test waits on this connection before it also opens a new one, in milliseconds. */
const TEST_TIMEOUT_MS = 500;
/** How much later than on the new connection an answer on this one may come, in milliseconds. */
const GRACE_MS = 500;

interface WatchHooks {
  /** Whether the server answers on this connection, or on a new one. Never rejects. */
  isAlive(on: 'this connection' | 'a new connection', signal: AbortSignal): Promise<boolean>;
  /** The server answers, but not on this connection. */
  stuck(): void;
}

/**
 * Detects a stuck connection, on which replies no longer arrive. Trap: Node's HTTP/2 client silently stops reading when it
 * receives a header that it cannot decode, such as an error text of more than 64 KiB; then every call runs into its
 * deadline. A busy or blocked server looks the same, so the connection counts as stuck only if the server answers on a
 * new one meanwhile, several times in a row.
 */
export class ConnectionWatch {
  readonly #hooks: WatchHooks;
  readonly #life = new AbortController();
  #pending = 0;
  #lastAnswerAt = 0;
  #silenceMs = MIN_SILENCE_MS;
  #timer: NodeJS.Timeout | null = null;
  #testing = false;
  /** Failed tests in a row. */
  #failed = 0;

  constructor(hooks: WatchHooks) {
    this.#hooks = hooks;
  }

  /** A call started. */
  sent(): void {
    if (this.#pending++ === 0) this.#lastAnswerAt = performance.now();
    this.#schedule();
  }

  /** A call ended. */
  ended(): void {
    this.#pending--;
  }

  /** The server sent something: a status, or a message of a stream. */
  answered(): void {
    this.#lastAnswerAt = performance.now();
    this.#failed = 0;
    this.#silenceMs = MIN_SILENCE_MS;
  }

  stop(): void {
    this.#life.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    if (this.#timer !== null || this.#testing || this.#pending === 0 || this.#life.signal.aborted) return;
    const dueMs = this.#lastAnswerAt + this.#silenceMs - performance.now();
    // Unref'd: pending calls keep the process alive on their own.
    this.#timer = setTimeout(() => this.#check(), Math.max(1, Math.ceil(dueMs))).unref();
  }

  #check(): void {
    this.#timer = null;
    if (this.#pending > 0 && performance.now() - this.#lastAnswerAt >= this.#silenceMs) void this.#test();
    else this.#schedule();
  }

  async #test(): Promise<void> {
    this.#testing = true;
    const stuck = await this.#isStuck();
    this.#testing = false;
    if (this.#life.signal.aborted) return;
    this.#failed = stuck ? this.#failed + 1 : 0;
    if (this.#failed >= MAX_FAILED_TESTS) {
      this.#hooks.stuck();
      return;
    }
    this.#lastAnswerAt = performance.now();
    this.#silenceMs = stuck ? MIN_SILENCE_MS : Math.min(MAX_SILENCE_MS, this.#silenceMs * 2);
    this.#schedule();
  }

  async #isStuck(): Promise<boolean> {
    const test = new AbortController();
    const signal = AbortSignal.any([test.signal, this.#life.signal]);
    const answerBefore = this.#lastAnswerAt;
    const here = this.#hooks.isAlive('this connection', signal);
    try {
      if (await within(TEST_TIMEOUT_MS, here, signal)) return false;
      if (!(await this.#hooks.isAlive('a new connection', signal))) return false;
      return !(await within(GRACE_MS, here, signal)) && this.#lastAnswerAt === answerBefore;
    } finally {
      test.abort();
    }
  }
}

/** The answer, or false if it takes longer than `ms`. */
async function within(ms: number, answer: Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const over = new AbortController();
  const late = sleep(ms, false, { signal: AbortSignal.any([over.signal, signal]), ref: false });
  try {
    return await Promise.race([answer, late.catch(() => false)]);
  } finally {
    over.abort();
  }
}
