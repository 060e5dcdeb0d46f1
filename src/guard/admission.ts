/**
 * Bounds what is in a room at a time. Who comes in need not fit exactly: one at a time is always let in, so that
 * something larger than the bound gets its turn.
 */
export class Admission {
  readonly #most: number;
  #inside = 0;
  readonly #waiting: { readonly size: number; readonly enter: () => void }[] = [];

  constructor(most: number) {
    this.#most = most;
  }

  /** Waits for room, in order of arrival. Rejects with the signal's reason when it is aborted first. */
  enter(size: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#fits(size)) {
      this.#inside += size;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waiter = {
        size,
        enter: (): void => {
          signal.removeEventListener('abort', abort);
          this.#inside += size;
          resolve();
        },
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
        this.#admit();
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  leave(size: number): void {
    this.#inside -= size;
    this.#admit();
  }

  #admit(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.size)) this.#waiting.shift()!.enter();
  }

  #fits(size: number): boolean {
    return this.#inside === 0 || this.#inside + size <= this.#most;
  }
}
