import { MAX_REST_MS } from '../../queue/requeue.ts';

/** Between two looks at them, and for clocks that run a little differently, in milliseconds. */
const GRACE_MS = 5000;

/**
 * Tells which jobs rest for longer than any is given back for. BullMQ ends a rest at a time of day: where a clock was set
 * back, or two machines differ, that can be half an hour later. This one goes by a clock that nobody sets.
 */
export class LongRests {
  readonly #since = new Map<string, number>();

  /** Takes note of all that rest at the moment; gives those of them that have rested for too long. */
  overdue(resting: ReadonlySet<string>): string[] {
    const now = performance.now();
    for (const id of this.#since.keys()) if (!resting.has(id)) this.#since.delete(id);
    for (const id of resting) if (!this.#since.has(id)) this.#since.set(id, now);
    return [...resting].filter((id) => now - this.#since.get(id)! > MAX_REST_MS + GRACE_MS);
  }
}
