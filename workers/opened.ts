/** The resources opened by a process, to be closed when it ends or when its startup fails. */
export class Opened {
  readonly #closes: (() => unknown)[] = [];

  /** Registers a function that closes a newly opened resource. */
  closedBy(close: () => unknown): void {
    this.#closes.push(close);
  }

  /** Closes everything in reverse order, even if some closes fail. Rejects with the first failure. */
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
