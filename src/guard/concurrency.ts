/**
 * How much one endpoint is given at a time, counted in rows: a batch takes as many as the model's largest batch,
 * however full it is; any other request takes one.
 */
export interface ConcurrencyPolicy {
  /** Rows that may be in flight, not necessarily a whole number; one request may always be. */
  readonly limit: number;
  /** A request was answered. */
  succeeded(): void;
  /** The guard turned a request away because it has too much to do. */
  overloaded(): void;
}

/** Halves when overloaded, and grows by one row for every limit's worth of answers. */
export class AdaptiveConcurrency implements ConcurrencyPolicy {
  readonly #most: number;
  #limit: number;

  /** In rows; `start` is at most `most`. */
  constructor(start: number, most: number) {
    this.#limit = start;
    this.#most = most;
  }

  get limit(): number {
    return this.#limit;
  }

  succeeded(): void {
    this.#limit = Math.min(this.#most, this.#limit + 1 / this.#limit);
  }

  overloaded(): void {
    this.#limit = Math.max(1, this.#limit / 2);
  }
}

/** Requests in flight that keep one instance busy while the next request travels. */
const REQUESTS_PER_INSTANCE = 2;
/** For a model that does not batch. */
const LEAST_ROWS = 8;
const MOST_ROWS = 1024;

/** Begins with what the model's instances can use, and never goes beyond it. */
export function instanceConcurrency(instances: number, maxBatchSize: number): ConcurrencyPolicy {
  const rows = instances * Math.max(1, maxBatchSize) * REQUESTS_PER_INSTANCE;
  const most = Math.min(MOST_ROWS, Math.max(LEAST_ROWS, rows));
  return new AdaptiveConcurrency(most, most);
}
