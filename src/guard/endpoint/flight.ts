import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { Task } from '../tasks/task.ts';

/** One request to the guard. */
export interface Flight {
  /** Task i is row i. */
  readonly tasks: readonly Task[];
  /** What it takes of its concurrency limit. */
  readonly rows: number;
  /** The limit it counts against: that of requests, or that of streams. */
  readonly concurrency: ConcurrencyPolicy;
  readonly bytes: number;
  /** Epoch of the version brackets when it was sent. */
  readonly epoch: number;
  /** By `performance.now()`. */
  readonly sentAt: number;
  /** `Liveness.successes` when it was sent. */
  readonly successes: number;
  /** Aborts the call. */
  readonly controller: AbortController;
}
