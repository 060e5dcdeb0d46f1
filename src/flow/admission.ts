/**
 * Bounds what is in a room at a time, and how much of it still stands at the door. Who comes in need not fit exactly: one
 * at a time is always let in, so that something larger than the bound gets its turn.
 */
export class Admission {
  readonly #most: number;
  readonly #hasRoom: (arriving: number) => boolean;
  #inside = 0;
  /** Of those inside, what has not found its place yet. */
  #arriving = 0;
  readonly #waiting: { readonly size: number; readonly enter: () => void }[] = [];

  /** `hasRoom`: whether more may come in, when so much was let in that it does not know of yet. */
  constructor(most: number, hasRoom: (arriving: number) => boolean) {
    this.#most = most;
    this.#hasRoom = hasRoom;
  }

  /**
   * Waits for room, in order of arrival. To be followed by `arrived` and `leave`. Rejects with the signal's reason when it
   * is aborted first.
   */
  enter(size: number, signal: AbortSignal): Promise<void> {
    if (this.#waiting.length === 0 && this.#fits(size)) {
      this.#letIn(size);
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const waiter = {
        size,
        enter: (): void => {
          signal.removeEventListener('abort', abort);
          this.#letIn(size);
          resolve();
        },
      };
      const abort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(signal.reason as Error);
        this.admit();
      };
      this.#waiting.push(waiter);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  /** Who was let in has found its place. */
  arrived(size: number): void {
    this.#arriving -= size;
  }

  leave(size: number): void {
    this.#inside -= size;
    this.admit();
  }

  /** Lets in whom there is room for. To be called when there may be more of it. */
  admit(): void {
    while (this.#waiting.length > 0 && this.#fits(this.#waiting[0]!.size)) this.#waiting.shift()!.enter();
  }

  #letIn(size: number): void {
    this.#inside += size;
    this.#arriving += size;
  }

  #fits(size: number): boolean {
    if (this.#inside === 0) return true;
    return this.#inside + size <= this.#most && this.#hasRoom(this.#arriving);
  }
}
