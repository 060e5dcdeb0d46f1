import { type Throughput, ThroughputMeter } from './throughput-meter.ts';

/** A request that a guard answered. */
export interface Landed {
  /** What it took of the limit. */
  readonly rows: number;
  readonly latencyMs: number;
  /** Whether more could have been sent, had the limit allowed it. */
  readonly supplied: boolean;
}

/**
 * How much one endpoint is given at a time, counted in rows: a batch takes as many as the model's largest batch,
 * however full it is; any other request takes one.
 */
export interface ConcurrencyPolicy {
  /** Rows that may be in flight, not necessarily a whole number; one request may always be. */
  readonly limit: number;
  /** A request was answered. */
  landed(landed: Landed): void;
  /** The guard turned a request away because it has too much to do. */
  overloaded(): void;
}

export interface ConcurrencyOptions {
  /** Rows to begin with. */
  readonly start: number;
  /** Fewer are given only to a guard that turns requests away. */
  readonly least: number;
  readonly most: number;
  /** Rows of one full request. */
  readonly step: number;
  /** Milliseconds on any clock. Default `performance.now()`. */
  readonly now?: () => number;
}

/** A change of the limit that is kept only if throughput agrees with it. */
interface Trial {
  readonly kind: 'more' | 'less';
  /** The limit before it, and the throughput that it is held against. */
  readonly from: number;
  readonly rowsPerMs: number;
  /** Whether the one before it, in the same direction, was kept. */
  readonly again: boolean;
}

/** How far one trial goes, while next to nothing is known and afterwards. */
const SLOW_START_FACTOR = 2;
const MORE_FACTOR = 1.5;
const LESS_FACTOR = 0.8;
const MIN_FACTOR = 0.5;
/** More is kept if it gains this share of what it would gain at a guard with nothing to do. */
const GAIN_SHARE = 0.25;
/** More that gains less, but so much, is kept in part: the limit was just below what the guard can use. */
const SOME_GAIN = 1.04;
/** What is kept beyond the last limit that was worth it, as a factor: room for what varies. */
const HEADROOM = 1.25;
/** Less is kept while throughput stays above this share. */
const KEPT_SHARE = 0.95;
/** Less is tried when even the quickest request waits for so large a share of what requests take on average. */
const QUEUED_SHARE = 0.4;
/** The least latency is forgotten by this factor a measurement, so that a guard which became slower is seen as it is. */
const FORGETTING = 1.02;
/**
 * What a measurement spans: about so many requests, in whole turns of what is in flight, of which there are at most so
 * many; where few are in flight, so many requests at least.
 */
const SLOW_START_SPAN = { requests: 96, turns: 3, least: 16 };
const SPAN = { requests: 256, turns: 8, least: 64 };
/** Measurements between trials: doubled after each that changed nothing. */
const MIN_REST = 2;
const MAX_REST = 8;
/** Overloaded, half of the limit is left; it grows back by this share for every limit's worth of answers. */
const REGROWTH = 0.1;

/**
 * Finds out how much a guard can use. It tries more while the limit is what holds it back, and keeps it if throughput
 * rises; it tries less when requests wait long in the guard, and keeps that if throughput stays. Texts of any lengths may be
 * mixed: no latency by itself changes the limit. Overloads halve it at once, and it grows back to just below.
 */
export class AdaptiveConcurrency implements ConcurrencyPolicy {
  readonly #least: number;
  readonly #most: number;
  readonly #step: number;
  readonly #now: () => number;
  readonly #meter = new ThroughputMeter();
  #limit: number;
  #slowStart = true;
  #trial: Trial | null = null;
  #leastLatencyMs = Number.POSITIVE_INFINITY;
  #rest = MIN_REST;
  #resting = 0;
  /** After an overload, the limit it grows back to. */
  #regrowTo: number | null = null;

  constructor({ start, least, most, step, now = () => performance.now() }: ConcurrencyOptions) {
    this.#limit = start;
    this.#least = least;
    this.#most = most;
    this.#step = step;
    this.#now = now;
    this.#measure();
  }

  get limit(): number {
    return this.#limit;
  }

  landed({ rows, latencyMs, supplied }: Landed): void {
    this.#leastLatencyMs = Math.min(this.#leastLatencyMs, latencyMs);
    if (this.#regrowTo !== null) {
      this.#regrow(rows, this.#regrowTo);
      return;
    }
    const measured = this.#meter.landed(rows, latencyMs, supplied, this.#now());
    if (measured === null) return;
    this.#leastLatencyMs *= FORGETTING;
    if (this.#trial === null) this.#considerTrial(measured);
    else if (this.#trial.kind === 'more') this.#endMore(this.#trial, measured);
    else this.#endLess(this.#trial, measured);
  }

  overloaded(): void {
    const most = this.#trial?.kind === 'more' ? this.#trial.from : this.#limit;
    // Several in a row are of one cause. Less than one full request more could not be seen to be of use.
    this.#regrowTo = Math.max(this.#step, (this.#regrowTo ?? most) * (1 - REGROWTH));
    this.#limit = Math.max(1, most / 2);
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
   * Whether requests stand in a queue of the guard's. The mean alone does not show it: it is high, too, where long texts
   * are among short ones; but then the short ones come back soon.
   */
  #isQueued(measured: Throughput): boolean {
    return this.#queuedShare(measured) > QUEUED_SHARE && this.#limit > this.#least;
  }

  /** What of their time requests spend in that queue. */
  #queuedShare({ meanLatencyMs, leastLatencyMs }: Throughput): number {
    return (leastLatencyMs - this.#leastLatencyMs) / meanLatencyMs;
  }

  #tryMore({ rowsPerMs }: Throughput, again: boolean): void {
    if (this.#limit >= this.#most) {
      this.#slowStart = false;
      this.#endTrial(again);
      return;
    }
    this.#trial = { kind: 'more', from: this.#limit, rowsPerMs, again };
    const factor = this.#slowStart ? SLOW_START_FACTOR : MORE_FACTOR;
    this.#limit = Math.min(this.#most, Math.max(this.#limit * factor, this.#limit + this.#step));
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

  /** `rowsPerMs` stays that of the first in a row, so that small losses do not add up. */
  #tryLess(measured: Throughput, rowsPerMs: number, again: boolean): void {
    this.#slowStart = false;
    this.#trial = { kind: 'less', from: this.#limit, rowsPerMs, again };
    const unqueued = (1 - this.#queuedShare(measured)) * HEADROOM;
    this.#limit = Math.max(this.#least, this.#limit * Math.min(LESS_FACTOR, Math.max(MIN_FACTOR, unqueued)));
    this.#measure();
  }

  #endLess({ from, rowsPerMs, again }: Trial, measured: Throughput): void {
    const kept = measured.rowsPerMs >= KEPT_SHARE * rowsPerMs;
    if (!kept) {
      this.#limit = from;
      // It was no queue: the guard has become slower.
      this.#leastLatencyMs = measured.leastLatencyMs;
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
    const turns = Math.min(span.turns, Math.ceil(span.requests / requests));
    this.#meter.begin(requests * this.#step, turns, span.least);
  }
}

/**
 * Requests in flight that keep one instance busy: the one it works on, the next, and one for the times when we are late
 * because we read or write something large.
 */
const REQUESTS_PER_INSTANCE = 3;
/** For a model that does not batch. */
const MIN_ROWS = 8;
/** Rows in flight at one endpoint, whatever it seems to be able to use. */
const MAX_ROWS = 4096;

/** Begins with what the model's instances can use, which latency alone does not make less. */
export function instanceConcurrency(instances: number, maxBatchSize: number): ConcurrencyPolicy {
  const step = Math.max(1, maxBatchSize);
  const start = Math.min(MAX_ROWS, Math.max(MIN_ROWS, instances * step * REQUESTS_PER_INSTANCE));
  return new AdaptiveConcurrency({ start, least: start, most: Math.max(start, MAX_ROWS), step });
}
