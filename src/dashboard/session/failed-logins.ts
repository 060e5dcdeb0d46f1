/** Wrong tokens that an address may send within the window. */
const MAX_FAILURES = 10;
const WINDOW_MS = 60_000;

/** The oldest is forgotten when there is one more. */
const MAX_ADDRESSES = 4096;

interface Failures {
  count: number;
  /** By `performance.now()`. */
  readonly since: number;
}

/** Counts wrong tokens by address: after 10, each further wrong one is told to wait for the rest of the minute. */
export class FailedLogins {
  readonly #byAddress = new Map<string, Failures>();

  mayTry(address: string): boolean {
    return (this.#current(address)?.count ?? 0) < MAX_FAILURES;
  }

  note(address: string): void {
    const current = this.#current(address);
    if (current !== null) {
      current.count++;
      return;
    }
    this.#byAddress.delete(address);
    this.#byAddress.set(address, { count: 1, since: performance.now() });
    const [oldest] = this.#byAddress.keys();
    if (this.#byAddress.size > MAX_ADDRESSES) this.#byAddress.delete(oldest!);
  }

  #current(address: string): Failures | null {
    const found = this.#byAddress.get(address);
    return found !== undefined && performance.now() - found.since < WINDOW_MS ? found : null;
  }
}
