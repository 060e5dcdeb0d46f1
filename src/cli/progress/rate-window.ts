/** Throughput over the last few seconds, from readings of a counter. */
export class RateWindow {
  readonly #windowMs: number;
  readonly #readings: { readonly atMs: number; readonly count: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Adds a reading; `atMs` comes from a monotonic clock. */
  add(atMs: number, count: number): void {
    this.#readings.push({ atMs, count });
    // The newest reading outside the window stays: the window is measured from it.
    while (this.#readings.length > 2 && this.#readings[1]!.atMs <= atMs - this.#windowMs)
      this.#readings.shift();
  }

  /** Counts per second; null until there are two readings at different times. */
  perSecond(): number | null {
    const first = this.#readings[0];
    const last = this.#readings.at(-1);
    if (first === undefined || last === undefined || last.atMs <= first.atMs) return null;
    return ((last.count - first.count) * 1000) / (last.atMs - first.atMs);
  }
}
