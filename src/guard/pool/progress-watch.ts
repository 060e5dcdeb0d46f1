/** How often a pool that waits for a slow guard checks for progress, in milliseconds. */
const WATCH_MS = 1000;
/**
 * Max consecutive returns of guards that count as progress without a verdict. An item that keeps a guard busy for long
 * takes it out a few times before the item ends as an error, and must not end the run.
 */
const MAX_RETURNS = 25;

interface ProgressWatchOptions {
  /** Max time to go on without progress, in milliseconds. */
  readonly maxWaitMs: number;
  /** Whether verdicts can be expected from any endpoint. */
  readonly usable: () => boolean;
  /**
   * Time since which tasks wait that no endpoint in use takes, by `performance.now()`; infinite when there are none.
   */
  readonly unservedSince: () => number;
  /** Called when no endpoint has been usable for too long, or none that takes some of the waiting tasks. */
  readonly expired: () => void;
}

/** While something is being judged, detects when there was no progress for too long. */
export class ProgressWatch {
  readonly #options: ProgressWatchOptions;
  /** Time when something was last judged, a guard returned, or the watch started, by `performance.now()`. */
  #progressAt = 0;
  /** Returns of guards since something was last judged. */
  #returns = 0;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: ProgressWatchOptions) {
    this.#options = options;
  }

  judged(): void {
    this.#progressAt = performance.now();
    this.#returns = 0;
  }

  returned(): void {
    if (++this.#returns <= MAX_RETURNS) this.#progressAt = performance.now();
  }

  start(): void {
    this.#progressAt = performance.now();
    this.#schedule();
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #schedule(): void {
    const { maxWaitMs, unservedSince } = this.#options;
    const now = performance.now();
    const due = Math.min(this.#progressAt, unservedSince()) + maxWaitMs;
    const waitMs = due > now ? due - now : Math.min(WATCH_MS, maxWaitMs);
    this.#timer = setTimeout(() => this.#check(), Math.ceil(waitMs));
  }

  #check(): void {
    this.#timer = null;
    const { maxWaitMs, usable, unservedSince, expired } = this.#options;
    const latest = performance.now() - maxWaitMs;
    const noneUsable = this.#progressAt <= latest && !usable();
    if (noneUsable || unservedSince() <= latest) expired();
    else this.#schedule();
  }
}
