import { WaitList } from './wait-list.ts';

/**
 * Limits the bytes between two points of a pipeline. An entry larger than the whole budget is admitted alone. First
 * come, first served, so large entries are not starved by small ones.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  readonly #waiting = new WaitList();
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Waits until there is room for `bytes`. Each entry needs `leave` calls for the same total. Rejects on abort. */
  enter(bytes: number, signal: AbortSignal): Promise<void> {
    return this.#waiting.wait(() => {
      if (this.#used > 0 && this.#used + bytes > this.#maxBytes) return 'blocked';
      this.#used += bytes;
      return 'taken';
    }, signal);
  }

  leave(bytes: number): void {
    this.#used -= bytes;
    this.#waiting.offerTurns();
  }
}
