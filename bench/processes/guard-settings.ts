/** What a bench's guard is to be. */
export interface GuardSettings {
  /** Executions at once. */
  readonly instances: number;
  /** Rows of one execution. */
  readonly maxBatchSize: number;
  /**
   * `zero`: as fast as its process can. `reference`: the published figures, by the longest row of an execution.
   * `padded`: in proportion to the longest row times the number of rows, as where padding costs what content does.
   */
  readonly time: 'zero' | 'reference' | 'padded';
  /** Every execution takes so many times as long. */
  readonly slowness: number;
}

/** One thing the guard did on one of its instances. */
export interface Execution {
  /** By the clock, in milliseconds since 1970, so that those of several guards can be compared. */
  readonly endedAtMs: number;
  /** What it took of its instance. */
  readonly serviceMs: number;
  /** Rows that are items; a `version` request holds none. */
  readonly items: number;
  /** Requests that waited for an instance as it ended. */
  readonly waiting: number;
}
