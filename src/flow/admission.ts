import { WaitList } from './wait-list.ts';

/**
 * Bounds how much work runs at a time, by its size. When nothing runs, work of any size is admitted, so work larger
 * than the bound gets its turn too.
 */
export class Admission {
  readonly #maxSize: number;
  readonly #hasRoom: (arriving: number) => boolean;
  readonly #waiting = new WaitList();
  #running = 0;
  /** The part of `#running` that was admitted and has not begun yet. */
  #arriving = 0;

  /** `hasRoom`: whether more may be admitted, while work of size `arriving` was admitted and does not show yet. */
  constructor(maxSize: number, hasRoom: (arriving: number) => boolean) {
    this.#maxSize = maxSize;
    this.#hasRoom = hasRoom;
  }

  /**
   * Runs `work` as soon as there is room for its size, in order of arrival. By the time `work` first awaits, what it
   * began must show in `hasRoom`. Rejects with the signal's reason when aborted before there is room; after that,
   * aborting is the work's own affair.
   */
  async run<T>(size: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#waiting.wait(() => {
      if (!this.#fits(size)) return 'blocked';
      this.#running += size;
      this.#arriving += size;
      return 'taken';
    }, signal);
    try {
      return await this.#begin(size, work);
    } finally {
      this.#running -= size;
      this.#waiting.offerTurns();
    }
  }

  /** Admits what there is room for. To be called when `hasRoom` may have become true. */
  admit(): void {
    this.#waiting.offerTurns();
  }

  #begin<T>(size: number, work: () => Promise<T>): Promise<T> {
    try {
      return work();
    } finally {
      this.#arriving -= size;
      this.#waiting.offerTurns();
    }
  }

  #fits(size: number): boolean {
    if (this.#running === 0) return true;
    return this.#running + size <= this.#maxSize && this.#hasRoom(this.#arriving);
  }
}
