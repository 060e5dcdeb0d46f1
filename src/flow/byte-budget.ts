/**
 * How many bytes may be under way between two points of a pipeline. What is larger than the whole budget goes
 * alone. First come, first served, so that nothing large waits for ever.
 */
export class ByteBudget {
  readonly #limit: number;
  readonly #waiting: { readonly bytes: number; readonly enter: () => void }[] = [];
  #used = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Waits until there is room for `bytes`. Every entry needs a `leave` with the same number. Rejects on abort. */
  async enter(bytes: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.length === 0 && this.#hasRoom(bytes)) {
      this.#used += bytes;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        bytes,
        enter: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        this.#admit();
        reject(signal.reason as Error);
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  leave(bytes: number): void {
    this.#used -= bytes;
    this.#admit();
  }

  #admit(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && this.#hasRoom(next.bytes);
      next = this.#waiting[0]
    ) {
      this.#used += next.bytes;
      this.#waiting.shift();
      next.enter();
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#used === 0 || this.#used + bytes <= this.#limit;
  }
}
