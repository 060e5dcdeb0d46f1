/**
 * Lets ordinary work run side by side, suspects one at a time beside it, and what is to be judged alone with nothing
 * else in this process: when the process dies then, there is no doubt of what.
 */
export class Isolation {
  #shared = 0;
  #suspect = false;
  #alone = false;
  readonly #waiting: { readonly mode: Mode; readonly enter: () => void }[] = [];

  /** Runs work of a mode as soon as that mode's rule allows; those who wait are let in in turn. */
  async run<T>(mode: Mode, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    await this.#enter(mode, signal);
    try {
      return await work();
    } finally {
      this.#leave(mode);
    }
  }

  #enter(mode: Mode, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(entry), 1);
        reject(signal.reason as Error);
        this.#admit();
      };
      const entry = {
        mode,
        enter: () => {
          signal.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(entry);
      this.#admit();
    });
  }

  #leave(mode: Mode): void {
    if (mode === 'alone') this.#alone = false;
    else {
      this.#shared--;
      if (mode === 'suspect') this.#suspect = false;
    }
    this.#admit();
  }

  /** Lets in whoever may; somebody who waits to be alone holds up those who came later. */
  #admit(): void {
    for (let at = 0; at < this.#waiting.length;) {
      const { mode, enter } = this.#waiting[at]!;
      if (this.#alone) return;
      if (mode === 'alone' && this.#shared > 0) return;
      if (mode === 'suspect' && this.#suspect) {
        at++;
        continue;
      }
      this.#waiting.splice(at, 1);
      if (mode === 'alone') this.#alone = true;
      else {
        this.#shared++;
        if (mode === 'suspect') this.#suspect = true;
      }
      enter();
    }
  }
}

export type Mode = 'shared' | 'suspect' | 'alone';
