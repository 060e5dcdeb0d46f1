/** How fast a guard was while it had as much in flight as it was given. */
export interface Throughput {
  readonly rowsPerMs: number;
  /** From sending a request to its answer, in milliseconds. */
  readonly meanLatencyMs: number;
  readonly leastLatencyMs: number;
}

/**
 * Measures throughput under one limit. What was sent before the limit changed is let pass first. A measurement spans a whole
 * number of times what is in flight, because requests that were sent together come back together.
 */
export class ThroughputMeter {
  #passing = 0;
  #neededRows = 0;
  #neededRequests = 0;
  #beganAt: number | null = null;
  #rows = 0;
  #requests = 0;
  #latencyMs = 0;
  #leastLatencyMs = Number.POSITIVE_INFINITY;

  /**
   * Begins anew: `rows` are in flight under the limit to be measured, which is done over so many times as many, and over
   * `leastRequests`, because few say little.
   */
  begin(rows: number, times: number, leastRequests: number): void {
    this.#passing = rows;
    this.#neededRows = rows * times;
    this.#neededRequests = leastRequests;
    this.#restart();
  }

  /**
   * A request came back, at `now` in milliseconds. `supplied`: whether there was more to send than the limit allowed; a
   * measurement in which there was not says nothing of the guard, and begins again. The throughput once there is one; then the
   * next measurement of the same limit begins.
   */
  landed(rows: number, latencyMs: number, supplied: boolean, now: number): Throughput | null {
    if (!supplied) {
      this.#restart();
      return null;
    }
    if (this.#passing > 0) {
      this.#passing -= rows;
      return null;
    }
    if (this.#beganAt === null) {
      this.#beganAt = now;
      return null;
    }
    this.#rows += rows;
    this.#requests++;
    this.#latencyMs += latencyMs;
    this.#leastLatencyMs = Math.min(this.#leastLatencyMs, latencyMs);
    const elapsedMs = now - this.#beganAt;
    const enough = this.#rows >= this.#neededRows && this.#requests >= this.#neededRequests;
    if (!enough || elapsedMs <= 0) return null;
    const measured = {
      rowsPerMs: this.#rows / elapsedMs,
      meanLatencyMs: this.#latencyMs / this.#requests,
      leastLatencyMs: this.#leastLatencyMs,
    };
    this.#restart();
    this.#beganAt = now;
    return measured;
  }

  #restart(): void {
    this.#beganAt = null;
    this.#rows = 0;
    this.#requests = 0;
    this.#latencyMs = 0;
    this.#leastLatencyMs = Number.POSITIVE_INFINITY;
  }
}
