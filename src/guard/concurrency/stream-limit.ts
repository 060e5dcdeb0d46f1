/** Max streams of callers open at a time at one endpoint. */
const MAX_STREAMS = 64;
/** After an overload the limit doubles in this time, in milliseconds. */
const DOUBLING_MS = 1000;

/**
 * How many streams of callers may be open at one endpoint. How long a stream lasts and how fast it goes is up to its
 * caller, so unlike for other requests there is no throughput to find a limit by. A guard that takes fewer says so: then
 * the limit falls to what it has open, and grows back with time.
 */
export class StreamLimit {
  #lowered = MAX_STREAMS;
  #loweredAt = 0;

  get streams(): number {
    const doublings = (performance.now() - this.#loweredAt) / DOUBLING_MS;
    return Math.min(MAX_STREAMS, this.#lowered * 2 ** doublings);
  }

  /** The guard turned a stream away because it is overloaded. `open`: those that are left. */
  overloaded(open: number): void {
    this.#lowered = Math.max(1, Math.min(open, this.streams));
    this.#loweredAt = performance.now();
  }
}
