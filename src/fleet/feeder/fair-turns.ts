import type { Priority } from '../../config/run-config.ts';

/** The distance between two turns of a run: a run of high priority gets sixteen shards judged for one of low priority. */
const STEPS: Readonly<Record<Priority, number>> = { high: 1, normal: 4, low: 16 };

/** The first turn. In BullMQ, 0 would go before every other. */
const FIRST = 1;
/** Beyond this, turns start from the first again: BullMQ takes numbers up to 2^21. */
const RESTART_AT = 2 ** 20;

/**
 * The turns of a run's shards in a queue that it shares with other runs; the queue hands out the lowest turn first. This is
 * start-time fair queueing (Goyal, Vin and Cheng, 1996): a run's next turn is one step after its last, but never before
 * the turn that is due now. So a run that comes later is next, runs that wait take turns in proportion to their priority,
 * and none can be overtaken for ever.
 */
export class FairTurns {
  readonly #step: number;
  readonly #maxLead: number;
  #next = FIRST;

  /** `maxWaiting`: how many shards of the run wait at most. */
  constructor(priority: Priority, maxWaiting: number) {
    this.#step = STEPS[priority];
    this.#maxLead = maxWaiting * this.#step;
  }

  /** Takes the next turn. `due`: the lowest turn in the queue; null when nothing waits. */
  take(due: number | null): number {
    const turn = Math.max(this.#next, startOf(due));
    this.#next = turn + this.#step;
    return turn;
  }

  /** Whether the turns have started again from a lower number since the last one was taken, so that it would come too late. */
  isLate(due: number | null): boolean {
    return this.#next > startOf(due) + this.#maxLead;
  }

  /** Forgets the turns taken so far. */
  restart(): void {
    this.#next = FIRST;
  }
}

function startOf(due: number | null): number {
  return due === null || due > RESTART_AT ? FIRST : due;
}
