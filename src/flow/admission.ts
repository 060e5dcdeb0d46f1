import { WaitList } from './wait-list.ts';

/** Admitted work. Release it in a `finally`, so it always makes room however the work ends. */
interface Permit {
  /** Marks the work as visible to `hasRoom` from now on. Work that never gets this far need not call it. */
  begun(): void;
  /** Makes room for others. Idempotent. */
  release(): void;
}

/**
 * Bounds how much work runs at a time, by its size. When nothing runs, work of any size is admitted, so work larger
 * than the bound gets its turn too.
 */
export class Admission {
  readonly #maxSize: number;
  readonly #hasRoom: (arriving: number) => boolean;
  readonly #waiting = new WaitList();
  #running = 0;
  /** Size of the work in `#running` that was admitted but has not begun. */
  #arriving = 0;

  /** `hasRoom` returns whether more may be admitted while work of size `arriving` is admitted but not yet visible. */
  constructor(maxSize: number, hasRoom: (arriving: number) => boolean) {
    this.#maxSize = maxSize;
    this.#hasRoom = hasRoom;
  }

  /**
   * Resolves as soon as there is room for the size, in order of arrival. Rejects with the signal's reason when aborted
   * before there is room; it may still be aborted between the admission and the code that awaits it.
   */
  async enter(size: number, signal: AbortSignal): Promise<Permit> {
    await this.#waiting.wait(() => {
      if (!this.#fits(size)) return 'blocked';
      this.#running += size;
      this.#arriving += size;
      return 'taken';
    }, signal);
    let arriving = size;
    let running = size;
    const begun = (): void => {
      this.#arriving -= arriving;
      arriving = 0;
      this.#waiting.offerTurns();
    };
    const release = (): void => {
      this.#running -= running;
      running = 0;
      begun();
    };
    return { begun, release };
  }

  /** Admits waiting work while there is room. Call it when `hasRoom` may have become true. */
  admit(): void {
    this.#waiting.offerTurns();
  }

  #fits(size: number): boolean {
    if (this.#running === 0) return true;
    return this.#running + size <= this.#maxSize && this.#hasRoom(this.#arriving);
  }
}
