import { MAX_REST_MS } from '../../queue/requeue.ts';

/** For the interval between two calls, and for clock drift, in milliseconds. */
const GRACE_MS = 5000;

/**
 * Finds jobs that are delayed for longer than any `Requeue` asks for. BullMQ ends a delay at a time of day: where a clock
 * was set back, or two machines differ, that can be half an hour later. This goes by the monotonic clock.
 */
export class LongRests {
  readonly #since = new Map<string, number>();

  /** Takes all jobs that are delayed now; returns those that have been for too long. */
  overdue(resting: ReadonlySet<string>): string[] {
    const now = performance.now();
    for (const id of this.#since.keys()) if (!resting.has(id)) this.#since.delete(id);
    for (const id of resting) if (!this.#since.has(id)) this.#since.set(id, now);
    return [...resting].filter((id) => now - this.#since.get(id)! > MAX_REST_MS + GRACE_MS);
  }
}
