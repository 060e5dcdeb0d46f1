/** How fast a guard was while the limit on rows in flight was fully used. */
export interface Throughput {
  readonly rowsPerMs: number;
  /** Of whole requests, from sending to answer. */
  readonly meanLatencyMs: number;
  readonly minLatencyMs: number;
}

/**
 * Measures throughput under one limit. Requests sent before the limit changed are skipped. A measurement spans whole turns
 * of everything in flight, because requests sent together return together.
 */
export class ThroughputMeter {
  #rowsToSkip = 0;
  #neededRows = 0;
  #neededRequests = 0;
  #startedAt: number | null = null;
  #rows = 0;
  #requests = 0;
  #latencyMs = 0;
  #minLatencyMs = Number.POSITIVE_INFINITY;

  /**
   * Starts over. `rows`: in flight under the limit to be measured. `turns`: how many times those rows a measurement takes.
   * `minRequests`: how many requests it takes at least, since fewer are too noisy.
   */
  begin(rows: number, turns: number, minRequests: number): void {
    this.#rowsToSkip = rows;
    this.#neededRows = rows * turns;
    this.#neededRequests = minRequests;
    this.#restart();
  }

  /**
   * A request was answered, at `now` in milliseconds. `supplied`: whether more was waiting than the limit allowed; without
   * that the measurement says nothing about the guard, and starts over. Returns the throughput when a measurement is
   * complete, and starts the next one of the same limit; else null.
   */
  completed(rows: number, latencyMs: number, supplied: boolean, now: number): Throughput | null {
    if (!supplied) {
      this.#restart();
      return null;
    }
    if (this.#rowsToSkip > 0) {
      this.#rowsToSkip -= rows;
      return null;
    }
    if (this.#startedAt === null) {
      this.#startedAt = now;
      return null;
    }
    this.#rows += rows;
    this.#requests++;
    this.#latencyMs += latencyMs;
    this.#minLatencyMs = Math.min(this.#minLatencyMs, latencyMs);
    const elapsedMs = now - this.#startedAt;
    const enough = this.#rows >= this.#neededRows && this.#requests >= this.#neededRequests;
    if (!enough || elapsedMs <= 0) return null;
    const measured = {
      rowsPerMs: this.#rows / elapsedMs,
      meanLatencyMs: this.#latencyMs / this.#requests,
      minLatencyMs: this.#minLatencyMs,
    };
    this.#restart();
    this.#startedAt = now;
    return measured;
  }

  #restart(): void {
    this.#startedAt = null;
    this.#rows = 0;
    this.#requests = 0;
    this.#latencyMs = 0;
    this.#minLatencyMs = Number.POSITIVE_INFINITY;
  }
}
