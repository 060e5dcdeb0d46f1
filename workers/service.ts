/** How a process is asked to end. */
export interface Ending {
  /** Aborts first: begin nothing new, finish and hand on what is in flight. */
  readonly drain: AbortSignal;
  /** Aborts 10 s later, or at a second signal: give up what is in flight. */
  readonly stop: AbortSignal;
}

/**
 * A long-running process. It runs until it is done or asked to end, then rejects with the signal's reason, or until
 * it cannot go on, then rejects with a Failure. What it started is stopped when its promise settles.
 */
export type Service<Options, Result = void> = (options: Options, ending: Ending) => Promise<Result>;
