import type { Outcome } from '../../domain/outcome.ts';
import type { Judge } from '../judge.ts';

/** Times an item may start over because another guard answered. */
const MAX_MOVES = 5;

/** Thrown through `judgeParts` if another guard answered. */
class Moved extends Error {}

/**
 * Has the windows of one item judged by one endpoint, the one that refused the item: others may accept other sizes. If
 * another endpoint answers because that one is out of use, the search for a window size starts over with the one that
 * answered. After `MAX_MOVES` restarts, answers of any endpoint are accepted.
 */
export class SameGuard {
  readonly #judge: Judge;
  #endpoint: string | null;
  #moves = 0;

  constructor(judge: Judge, endpoint: string | null) {
    this.#judge = judge;
    this.#endpoint = endpoint;
  }

  /** Runs `work` with a judge that prefers the one endpoint. Returns its result, or that another guard answered. */
  async run<T>(work: (judge: Judge) => Promise<T>): Promise<T | 'another guard'> {
    const judge: Judge = {
      fingerprints: this.#judge.fingerprints,
      judge: async (requests, options) => {
        const endpoint = this.#endpoint ?? options.endpoint ?? null;
        const outcomes = await this.#judge.judge(requests, { ...options, endpoint });
        for (const outcome of outcomes) this.#check(outcome);
        return outcomes;
      },
    };
    try {
      return await work(judge);
    } catch (error) {
      if (error instanceof Moved) return 'another guard';
      throw error;
    }
  }

  #check(outcome: Outcome): void {
    const { endpoint } = outcome.judgement ?? outcome.failure;
    if (endpoint === null || endpoint === this.#endpoint) return;
    const isFirst = this.#endpoint === null;
    this.#endpoint = endpoint;
    if (!isFirst && this.#moves++ < MAX_MOVES) throw new Moved('another guard has answered');
  }
}
