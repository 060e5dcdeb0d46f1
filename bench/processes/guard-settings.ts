/** Settings of a bench's guard. */
export interface GuardSettings {
  /** Concurrent executions. */
  readonly instances: number;
  /** Max rows per execution. */
  readonly maxBatchSize: number;
  /**
   * `zero`: as fast as its process can. `reference`: the published times, by the longest row of an execution. `padded`:
   * in proportion to the longest row times the number of rows, as if padding cost as much as content.
   */
  readonly time: 'zero' | 'reference' | 'padded';
  /** Factor for the time of every execution. */
  readonly slowness: number;
}

/** One execution on one instance of the guard. */
export interface Execution {
  /** Milliseconds since 1970, to compare executions of several guards. */
  readonly endedAtMs: number;
  /** Time that its instance was busy. */
  readonly serviceMs: number;
  /** Rows that are items; a `version` request has none. */
  readonly items: number;
  /** Queued requests when it ended. */
  readonly waiting: number;
}
