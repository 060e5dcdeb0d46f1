/** How long a process may work on something. */
export interface Limits {
  /** Of processor time: what the work itself costs, however busy the machine is. */
  readonly processorMs: number;
  /** By the clock, far more: for what hangs without working, on machines that have a lot else to do. */
  readonly wallMs: number;
}

/** Which of the limits was passed: the work's own fault, or perhaps the machine's. */
export type Excess = 'processor' | 'wall';

/** Looking at a process more often than this tells nothing. */
const MIN_LOOK_MS = 20;

/**
 * Counts the time that a process works, and has it ended when that is more than its due. It is looked at only when it
 * could have used up what is left: a process with one thread is looked at once, unless the machine is busy.
 */
export class TimeLimit {
  readonly #used: () => Promise<number | null>;
  readonly #end: () => void;
  #limits: Limits = { processorMs: 0, wallMs: 0 };
  #spentMs = 0;
  /** How much of that it is known not to have worked. */
  #idleMs = 0;
  #since: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #excess: Excess | null = null;

  /** `used` gives the processor time in milliseconds, null when nobody knows; `end` is called once at most. */
  constructor(used: () => Promise<number | null>, end: () => void) {
    this.#used = used;
    this.#end = end;
  }

  /** Why the process was ended; null when it was not. */
  get excess(): Excess | null {
    return this.#excess;
  }

  /** It works from now on; time before a pause counts. */
  resume(limits: Limits): void {
    this.#limits = limits;
    this.#since = performance.now();
    this.#lookAt(this.#spentMs);
  }

  /** It waits for others, or is done. */
  pause(): void {
    clearTimeout(this.#timer);
    if (this.#since !== null) this.#spentMs += performance.now() - this.#since;
    this.#since = null;
  }

  /** Plans the next look at it, after `passedMs` of its time. */
  #lookAt(passedMs: number): void {
    const { processorMs, wallMs } = this.#limits;
    const leftMs = Math.min(processorMs + this.#idleMs, wallMs) - passedMs;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#look(), Math.max(MIN_LOOK_MS, leftMs));
  }

  async #look(): Promise<void> {
    const used = (await this.#used()) ?? 0;
    if (this.#since === null || this.#excess !== null) return;
    const { processorMs, wallMs } = this.#limits;
    const passedMs = this.#spentMs + performance.now() - this.#since;
    if (used >= processorMs) this.#exceed('processor');
    else if (passedMs >= wallMs) this.#exceed('wall');
    else {
      this.#idleMs = Math.max(0, passedMs - used);
      this.#lookAt(passedMs);
    }
  }

  #exceed(excess: Excess): void {
    this.#excess = excess;
    this.#end();
  }
}
