interface Waiting<T> {
  readonly entry: T;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Group commit: entries that arrive during a flush share the next one. The queue is bounded by its callers, each of
 * which waits for its entry. After a failed flush the end of the file is unknown, so nothing more is written: waiting
 * and later entries fail with the same error.
 */
export class GroupCommit<T> {
  readonly #flush: (entries: readonly T[]) => Promise<void>;
  #waiting: Waiting<T>[] = [];
  #running: Promise<void> | null = null;
  #failed: Error | null = null;
  #closed = false;

  constructor(flush: (entries: readonly T[]) => Promise<void>) {
    this.#flush = flush;
  }

  /** Resolves once a flush that includes the entry has succeeded. */
  add(entry: T): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#failed !== null) {
        reject(this.#failed);
        return;
      }
      if (this.#closed) {
        reject(new Error('entry added after close'));
        return;
      }
      this.#waiting.push({ entry, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Flushes waiting entries and accepts no more. Never rejects: a failure is reported by `add`. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    // Entries added in the same turn of the event loop join the first flush.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#flush(group.map(({ entry }) => entry));
      } catch (reason) {
        this.#failed = reason instanceof Error ? reason : new Error('flush failed', { cause: reason });
        for (const { reject } of [...group, ...this.#waiting]) reject(this.#failed);
        this.#waiting = [];
        break;
      }
      for (const { resolve } of group) resolve();
    }
    this.#running = null;
  }
}
