/** How a process is asked to end. */
interface Ending {
  /** Aborts first: start nothing new, finish and hand on work in flight. */
  readonly drain: AbortSignal;
  /** Aborts 10 s later or at a second signal: abandon work in flight. */
  readonly stop: AbortSignal;
}

/**
 * A long-running process. Resolves when done; rejects with the signal's reason when asked to end, and with a Failure
 * when it cannot continue. Everything it started has stopped when its promise settles.
 */
export type Service<Options, Result = void> = (options: Options, ending: Ending) => Promise<Result>;
