/** A request that a guard answered. */
interface Completion {
  /** Rows it counted against the limit. */
  readonly rows: number;
  readonly latencyMs: number;
  /** Whether more requests were waiting than the limit allowed. */
  readonly supplied: boolean;
}

/**
 * Limit of rows in flight at one endpoint. A batch counts as the model's max batch size, however full it is; any other
 * request counts as one row.
 */
export interface ConcurrencyPolicy {
  /** Max rows in flight, not necessarily an integer. One request is always allowed. */
  readonly limit: number;
  /** Called when a request was answered. */
  completed(request: Completion): void;
  /** Called when the guard rejected a request because it is overloaded, or did not answer in time. */
  overloaded(): void;
}

interface ConcurrencyOptions {
  /** Initial limit, in rows. */
  readonly start: number;
  /** Min limit, in rows. Only overloads push the limit below it. */
  readonly min: number;
  /** Max limit, in rows. */
  readonly max: number;
  /** Rows of one full request. */
  readonly step: number;
}

/** The limit is halved when the mean latency of a round exceeds the lowest one by this factor. */
const QUEUED_FACTOR = 2;
/** Min requests in a round: the mean of fewer varies with the lengths of their texts. */
const MIN_REQUESTS = 128;
/** From this fraction of the limit at the last overload, the limit grows more slowly. */
const CLOSE_TO_OVERLOAD = 0.9;
/** Factor by which it then grows more slowly. */
const CAUTION = 64;

/**
 * Additive increase, multiplicative decrease, as in TCP: each answered request raises the limit a little, by one full
 * request for every limit's worth of rows; an overload, a timeout, or a latency above twice its lowest value halves it.
 *
 * By Little's law, a guard whose latency has doubled has as much queued as it works on. So half of that limit still
 * keeps it busy. Latency also depends on the guard and on the texts, which the limit cannot change: if it stays high at
 * the min limit, that latency becomes the lowest.
 */
export class AdaptiveConcurrency implements ConcurrencyPolicy {
  readonly #min: number;
  readonly #max: number;
  readonly #step: number;
  #limit: number;
  /** The limit at the last overload. */
  #overloadedAt = Number.POSITIVE_INFINITY;
  #lowestMs = Number.POSITIVE_INFINITY;
  /** Unanswered rows that were sent under an earlier limit. */
  #rowsToSkip = 0;
  #rows = 0;
  #requests = 0;
  #latencyMs = 0;

  constructor({ start, min, max, step }: ConcurrencyOptions) {
    this.#limit = start;
    this.#min = min;
    this.#max = max;
    this.#step = step;
  }

  get limit(): number {
    return this.#limit;
  }

  completed({ rows, latencyMs, supplied }: Completion): void {
    if (this.#rowsToSkip > 0) {
      this.#rowsToSkip -= rows;
      return;
    }
    // A limit that holds nothing back is neither too low nor too high.
    if (!supplied) return;
    const caution = this.#limit < this.#overloadedAt * CLOSE_TO_OVERLOAD ? 1 : CAUTION;
    const increase = (this.#step * rows) / Math.max(rows, this.#limit) / caution;
    this.#limit = Math.min(this.#max, this.#limit + increase);
    this.#rows += rows;
    this.#requests++;
    this.#latencyMs += latencyMs;
    if (this.#rows >= this.#limit && this.#requests >= MIN_REQUESTS) this.#endRound();
  }

  overloaded(): void {
    // Consecutive overloads have one cause: the limit before the first of them.
    if (this.#rowsToSkip <= 0) this.#overloadedAt = this.#limit;
    this.#lower(Math.max(1, this.#limit / 2));
  }

  #endRound(): void {
    const meanMs = this.#latencyMs / this.#requests;
    this.#startRound();
    const isLowest = meanMs < this.#lowestMs || this.#limit <= this.#min + this.#step;
    if (isLowest) this.#lowestMs = meanMs;
    else if (meanMs > QUEUED_FACTOR * this.#lowestMs) this.#lower(Math.max(this.#min, this.#limit / 2));
  }

  #lower(limit: number): void {
    this.#rowsToSkip = this.#limit;
    this.#limit = limit;
    this.#startRound();
  }

  #startRound(): void {
    this.#rows = 0;
    this.#requests = 0;
    this.#latencyMs = 0;
  }
}

/**
 * Requests in flight that keep one model instance busy: the one it works on, the next one, and a spare for when this
 * process is late because it reads or writes something large.
 */
const REQUESTS_PER_INSTANCE = 3;
/** Min initial limit, for a model that does not batch. */
const MIN_ROWS = 8;
/** Max rows in flight at one endpoint. */
const MAX_ROWS = 4096;

/** Policy that starts with what the model's instances can use, and never goes below that except after overloads. */
export function instanceConcurrency(instances: number, maxBatchSize: number): ConcurrencyPolicy {
  const step = Math.max(1, maxBatchSize);
  const start = Math.min(MAX_ROWS, Math.max(MIN_ROWS, instances * step * REQUESTS_PER_INSTANCE));
  return new AdaptiveConcurrency({ start, min: start, max: Math.max(start, MAX_ROWS), step });
}

/** Initial requests in flight if instances are not declared: one that the server works on, and the next. */
const UNDECLARED_REQUESTS = 2;

/**
 * Policy for a server that declares no instances. Starts low, and never goes below the start except after overloads.
 */
export function undeclaredConcurrency(maxBatchSize: number): ConcurrencyPolicy {
  const step = Math.max(1, maxBatchSize);
  const start = UNDECLARED_REQUESTS * step;
  return new AdaptiveConcurrency({ start, min: start, max: MAX_ROWS, step });
}
