/**
 * What a process has opened so far, so that all of it is closed again: when the process ends, and when one of its
 * steps fails before it has begun.
 */
export class Opened {
  readonly #closes: (() => unknown)[] = [];

  /** Notes how something that was just opened is closed. */
  closedBy(close: () => unknown): void {
    this.#closes.push(close);
  }

  /** Closes what was opened last first; each, whatever becomes of the others. Rejects with the first failure. */
  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (const close of this.#closes.reverse()) {
      try {
        await close();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}
