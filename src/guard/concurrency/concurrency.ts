import { type Throughput, ThroughputMeter } from './throughput-meter.ts';

/** A request that a guard answered. */
interface Completed {
  /** What it took of the limit. */
  readonly rows: number;
  readonly latencyMs: number;
  /** Whether more was waiting to be sent than the limit allowed. */
  readonly supplied: boolean;
}

/**
 * How much may be in flight at one endpoint, in rows. A batch counts as the model's max batch size, however full it is;
 * any other request counts as one row.
 */
export interface ConcurrencyPolicy {
  /** Max rows in flight, not necessarily a whole number. One request is always allowed. */
  readonly limit: number;
  /** A request was answered. */
  completed(request: Completed): void;
  /** The guard rejected a request because it is overloaded. */
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
  /** A clock in milliseconds. Default `performance.now()`. */
  readonly now?: () => number;
}

/** A change of the limit that is kept only if the measured throughput confirms it. */
interface Trial {
  readonly kind: 'more' | 'less';
  /** The limit before the trial, and the throughput it is compared with. */
  readonly from: number;
  readonly rowsPerMs: number;
  /** Whether the previous trial was in the same direction and was kept. */
  readonly again: boolean;
}

/** Factors of the limit in one trial: up in slow start, up later, and the range for down. */
const SLOW_START_FACTOR = 2;
const MORE_FACTOR = 1.5;
const LESS_FACTOR = 0.8;
const MIN_FACTOR = 0.5;
/** A higher limit is kept if throughput rises by at least this share of the rise in the limit. */
const GAIN_SHARE = 0.25;
/** A higher limit that gains less, but at least this factor, is kept in part: capacity is just above the old limit. */
const SOME_GAIN = 1.04;
/** Kept above the last limit that paid off, as a factor: headroom for variance. */
const HEADROOM = 1.25;
/** A lower limit is kept if throughput stays above this share. */
const KEPT_SHARE = 0.95;
/** A lower limit is tried when even the fastest request spends this share of the mean latency in the guard's queue. */
const QUEUED_SHARE = 0.4;
/** The min latency grows by this factor per measurement, so that the baseline follows a guard that became slower. */
const FORGETTING = 1.02;
/**
 * Length of a measurement: about `requests` requests, rounded up to whole turns of everything in flight, but no more than
 * `maxTurns` turns, and no fewer than `minRequests` requests.
 */
const SLOW_START_SPAN = { requests: 96, maxTurns: 3, minRequests: 16 };
const SPAN = { requests: 256, maxTurns: 8, minRequests: 64 };
/** Measurements between trials: doubled after each trial that changed nothing. */
const MIN_REST = 2;
const MAX_REST = 8;
/** After an overload halved the limit, it grows by this share for every limit's worth of answered rows. */
const REGROWTH = 0.1;

/**
 * Finds the number of rows in flight at which a guard has its full throughput and little more. It is a hill climb on
 * measured throughput, with parts of TCP congestion control:
 * - slow start: the limit doubles while throughput follows (RFC 5681);
 * - a trial of a higher limit is kept if throughput rises, one of a lower limit if it does not fall, as BBR probes for
 *   bandwidth;
 * - a lower limit is tried when the min latency is far above the lowest ever seen, which is how TCP Vegas and Netflix's
 *   concurrency-limits estimate the queue at the server. Latency only suggests a trial: since it also depends on the
 *   lengths of the texts, it never changes the limit by itself;
 * - an overload halves the limit at once (the multiplicative decrease of AIMD), and it grows back to just below where it was.
 *
 *   slow start ──gain stops──► resting ──MIN_REST to MAX_REST measurements──► trial of more or less ──► resting
 *   any ──overloaded()──► regrowing ──limit reached──► resting
 */
export class AdaptiveConcurrency implements ConcurrencyPolicy {
  readonly #min: number;
  readonly #max: number;
  readonly #step: number;
  readonly #now: () => number;
  readonly #meter = new ThroughputMeter();
  #limit: number;
  #slowStart = true;
  #trial: Trial | null = null;
  #minLatencyMs = Number.POSITIVE_INFINITY;
  #rest = MIN_REST;
  #resting = 0;
  /** After an overload, the limit it grows back to. */
  #regrowTo: number | null = null;

  constructor({ start, min, max, step, now = () => performance.now() }: ConcurrencyOptions) {
    this.#limit = start;
    this.#min = min;
    this.#max = max;
    this.#step = step;
    this.#now = now;
    this.#measure();
  }

  get limit(): number {
    return this.#limit;
  }

  completed({ rows, latencyMs, supplied }: Completed): void {
    this.#minLatencyMs = Math.min(this.#minLatencyMs, latencyMs);
    if (this.#regrowTo !== null) {
      this.#regrow(rows, this.#regrowTo);
      return;
    }
    const measured = this.#meter.completed(rows, latencyMs, supplied, this.#now());
    if (measured === null) return;
    this.#minLatencyMs *= FORGETTING;
    if (this.#trial === null) this.#considerTrial(measured);
    else if (this.#trial.kind === 'more') this.#endMore(this.#trial, measured);
    else this.#endLess(this.#trial, measured);
  }

  overloaded(): void {
    const limit = this.#trial?.kind === 'more' ? this.#trial.from : this.#limit;
    // Overloads in a row have one cause: they lower the same target further. Never below one full request, since smaller
    // changes of the limit could not be measured.
    this.#regrowTo = Math.max(this.#step, (this.#regrowTo ?? limit) * (1 - REGROWTH));
    this.#limit = Math.max(1, limit / 2);
    this.#slowStart = false;
    this.#trial = null;
  }

  #regrow(rows: number, to: number): void {
    const worth = Math.max(1, this.#limit * REGROWTH);
    this.#limit = Math.min(to, this.#limit + (worth * rows) / Math.max(rows, this.#limit));
    if (this.#limit < to) return;
    this.#regrowTo = null;
    this.#rest = MAX_REST;
    this.#pause();
  }

  #considerTrial(measured: Throughput): void {
    if (!this.#slowStart && --this.#resting > 0) return;
    if (this.#isQueued(measured)) this.#tryLess(measured, measured.rowsPerMs, false);
    else this.#tryMore(measured, false);
  }

  /**
   * Whether requests wait in the guard's queue. The mean latency alone does not show it: long texts among short ones
   * raise it too, but then the short ones still return fast.
   */
  #isQueued(measured: Throughput): boolean {
    return this.#queuedShare(measured) > QUEUED_SHARE && this.#limit > this.#min;
  }

  /** Estimated share of the mean latency that requests spend in the guard's queue. */
  #queuedShare({ meanLatencyMs, minLatencyMs }: Throughput): number {
    return (minLatencyMs - this.#minLatencyMs) / meanLatencyMs;
  }

  #tryMore({ rowsPerMs }: Throughput, again: boolean): void {
    if (this.#limit >= this.#max) {
      this.#slowStart = false;
      this.#endTrial(again);
      return;
    }
    this.#trial = { kind: 'more', from: this.#limit, rowsPerMs, again };
    const factor = this.#slowStart ? SLOW_START_FACTOR : MORE_FACTOR;
    this.#limit = Math.min(this.#max, Math.max(this.#limit * factor, this.#limit + this.#step));
    this.#measure();
  }

  #endMore({ from, rowsPerMs, again }: Trial, measured: Throughput): void {
    const gain = measured.rowsPerMs / rowsPerMs;
    if (gain >= 1 + GAIN_SHARE * (this.#limit / from - 1)) {
      this.#tryMore(measured, true);
      return;
    }
    this.#limit = again || gain > SOME_GAIN ? Math.min(this.#limit, from * HEADROOM) : from;
    this.#slowStart = false;
    this.#endTrial(again);
  }

  /** `rowsPerMs`: throughput before the first of successive trials, so that small losses do not add up. */
  #tryLess(measured: Throughput, rowsPerMs: number, again: boolean): void {
    this.#slowStart = false;
    this.#trial = { kind: 'less', from: this.#limit, rowsPerMs, again };
    const unqueued = (1 - this.#queuedShare(measured)) * HEADROOM;
    this.#limit = Math.max(this.#min, this.#limit * Math.min(LESS_FACTOR, Math.max(MIN_FACTOR, unqueued)));
    this.#measure();
  }

  #endLess({ from, rowsPerMs, again }: Trial, measured: Throughput): void {
    const kept = measured.rowsPerMs >= KEPT_SHARE * rowsPerMs;
    if (!kept) {
      this.#limit = from;
      // The latency was no queue: the guard has become slower.
      this.#minLatencyMs = measured.minLatencyMs;
    }
    if (kept && this.#isQueued(measured)) this.#tryLess(measured, rowsPerMs, true);
    else this.#endTrial(kept || again);
  }

  #endTrial(changed: boolean): void {
    this.#trial = null;
    this.#rest = changed ? MIN_REST : Math.min(MAX_REST, this.#rest * 2);
    this.#pause();
  }

  #pause(): void {
    this.#resting = this.#rest;
    this.#measure();
  }

  #measure(): void {
    const requests = Math.max(1, Math.floor(this.#limit / this.#step));
    const span = this.#slowStart ? SLOW_START_SPAN : SPAN;
    const turns = Math.min(span.maxTurns, Math.ceil(span.requests / requests));
    this.#meter.begin(requests * this.#step, turns, span.minRequests);
  }
}

/**
 * Requests in flight that keep one model instance busy: the one it works on, the next one, and a spare for when this
 * process is late because it reads or writes something large.
 */
const REQUESTS_PER_INSTANCE = 3;
/** Min initial limit, for a model that does not batch. */
const MIN_ROWS = 8;
/** Max rows in flight at one endpoint, whatever its throughput. */
const MAX_ROWS = 4096;

/** Starts with what the model's instances can use, and never goes below that except after overloads. */
export function instanceConcurrency(instances: number, maxBatchSize: number): ConcurrencyPolicy {
  const step = Math.max(1, maxBatchSize);
  const start = Math.min(MAX_ROWS, Math.max(MIN_ROWS, instances * step * REQUESTS_PER_INSTANCE));
  return new AdaptiveConcurrency({ start, min: start, max: Math.max(start, MAX_ROWS), step });
}

/** Requests in flight at the start where instances are not declared: one that the server works on, and the next. */
const UNDECLARED_REQUESTS = 2;

/** For a server that declares no instances: starts low, finds what it can use, and never goes below the start except after overloads. */
export function undeclaredConcurrency(maxBatchSize: number): ConcurrencyPolicy {
  const step = Math.max(1, maxBatchSize);
  const start = UNDECLARED_REQUESTS * step;
  return new AdaptiveConcurrency({ start, min: start, max: MAX_ROWS, step });
}
