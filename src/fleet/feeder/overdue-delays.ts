import { MAX_REQUEUE_DELAY_MS } from '../../queue/work-queue.ts';

/** Allowance for the interval between two calls and for clock drift, in milliseconds. */
const GRACE_MS = 5000;

/**
 * Finds jobs that are delayed for longer than any `Requeue` asks for. BullMQ ends a delay at a wall-clock time: if a clock
 * was set back, or two machines disagree, that can be half an hour late. This class uses the monotonic clock.
 */
export class OverdueDelays {
  readonly #since = new Map<string, number>();

  /** Takes the ids of all jobs that are delayed now; returns those that have been delayed for too long. */
  overdue(delayed: ReadonlySet<string>): string[] {
    const now = performance.now();
    for (const id of this.#since.keys()) if (!delayed.has(id)) this.#since.delete(id);
    for (const id of delayed) if (!this.#since.has(id)) this.#since.set(id, now);
    return [...delayed].filter((id) => now - this.#since.get(id)! > MAX_REQUEUE_DELAY_MS + GRACE_MS);
  }
}
