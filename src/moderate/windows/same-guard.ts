import type { Outcome } from '../../domain/outcome.ts';
import type { Judge } from '../judge.ts';

/** How often an item may begin again because another guard answered. */
const MAX_MOVES = 5;

/** Thrown through `judgeParts` when another guard answered. */
class Moved extends Error {}

/**
 * Has the windows of one item judged by one endpoint, the one that refused it: another may take longer windows, or only
 * shorter ones. When that one is out of use and another answers, the search for the right windows begins again with it,
 * a few times; after that, with guards that come and go, whoever answers counts.
 */
export class SameGuard {
  readonly #judge: Judge;
  #endpoint: string | null;
  #moves = 0;

  constructor(judge: Judge, endpoint: string | null) {
    this.#judge = judge;
    this.#endpoint = endpoint;
  }

  /** What `work` gives with a judge that asks the one endpoint; or that another guard has answered. */
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
