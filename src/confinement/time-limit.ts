/** How long a process may work on one item. */
export interface Limits {
  /** Processor time, which does not depend on the load of the machine. */
  readonly processorMs: number;
  /** Wall-clock time, far longer: for a process that hangs without using the processor, also on a busy machine. */
  readonly wallMs: number;
}

/** Which limit was exceeded. `processor` is the item's fault; `wall` may be the machine's. */
export type Excess = 'processor' | 'wall';

/** Shortest interval between two checks of a process. */
const MIN_INTERVAL_MS = 20;

/**
 * Measures how long a process works, and kills it when it exceeds a limit. Checks the process only when it could have
 * used up the time that is left, so a process with one thread is checked once, unless the machine is busy.
 */
export class TimeLimit {
  readonly #used: () => Promise<number | null>;
  readonly #end: () => void;
  #limits: Limits = { processorMs: 0, wallMs: 0 };
  #spentMs = 0;
  /** Part of the elapsed time in which it did not use the processor. */
  #idleMs = 0;
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #excess: Excess | null = null;

  /**
   * `used` returns the process's processor time in milliseconds, null if unknown; `end` kills it and is called at most
   * once.
   */
  constructor(used: () => Promise<number | null>, end: () => void) {
    this.#used = used;
    this.#end = end;
  }

  /** The limit that the process exceeded; null if none. */
  get excess(): Excess | null {
    return this.#excess;
  }

  /** Starts measuring. Time before a pause counts. */
  resume(limits: Limits): void {
    this.#limits = limits;
    this.#since = performance.now();
    this.#scheduleAfter(this.#spentMs);
  }

  /** Stops measuring while the process waits for something else or is done. */
  pause(): void {
    clearTimeout(this.#timer);
    if (this.#since !== null) this.#spentMs += performance.now() - this.#since;
    this.#since = null;
  }

  /** Schedules the next check; `passedMs` of the process's time have elapsed. */
  #scheduleAfter(passedMs: number): void {
    const { processorMs, wallMs } = this.#limits;
    const leftMs = Math.min(processorMs + this.#idleMs, wallMs) - passedMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(), Math.max(MIN_INTERVAL_MS, leftMs));
  }

  async #check(): Promise<void> {
    const used = (await this.#used()) ?? 0;
    if (this.#since === null || this.#excess !== null) return;
    const { processorMs, wallMs } = this.#limits;
    const passedMs = this.#spentMs + performance.now() - this.#since;
    if (used >= processorMs) this.#exceed('processor');
    else if (passedMs >= wallMs) this.#exceed('wall');
    else {
      this.#idleMs = Math.max(0, passedMs - used);
      this.#scheduleAfter(passedMs);
    }
  }

  #exceed(excess: Excess): void {
    this.#excess = excess;
    this.#end();
  }
}
