import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';

/** Counts the streams open at one endpoint, replayed and interactive ones, against their limit. */
export class StreamSlots {
  /** Null for a guard without streams. */
  readonly concurrency: ConcurrencyPolicy | null;
  #open = 0;

  constructor(concurrency: ConcurrencyPolicy | null) {
    this.concurrency = concurrency;
  }

  get open(): number {
    return this.#open;
  }

  /** Whether one more may be opened. The first one always may. */
  get isFree(): boolean {
    if (this.concurrency === null) return false;
    return this.#open === 0 || this.#open + 1 <= this.concurrency.limit;
  }

  take(): void {
    this.#open++;
  }

  release(): void {
    this.#open--;
  }
}
