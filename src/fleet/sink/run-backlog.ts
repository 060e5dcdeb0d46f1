import type { PlanTail } from '../../ingest/plan/plan-tail.ts';
import type { ChainTail } from '../../record/log/chain-tail.ts';

/** How far the judging of a run is behind its plan. */
export interface Backlog {
  /** Items of the current pass that are planned and not committed. */
  readonly items: number;
  /** Seconds since the oldest uncommitted shard was first seen in the plan; 0 if there is none. */
  readonly oldestSeconds: number;
  /** Seconds since the last commit, or since the sink took the run. */
  readonly commitSeconds: number;
}

/** Measures the backlog of a run that a sink holds. Ages restart when another sink takes the run. */
export class RunBacklog {
  readonly #plan: PlanTail;
  /** All shards below this number are committed. */
  #firstOpen = 0;
  /** When the plan was seen to have grown to a number of shards, in ascending order, without committed ones. */
  readonly #grown: { readonly shards: number; readonly at: number }[] = [];
  #committedAt: number;

  constructor(plan: PlanTail) {
    this.#plan = plan;
    this.#committedAt = performance.now();
  }

  /** Records that a shard was just committed. */
  committed(): void {
    this.#committedAt = performance.now();
  }

  /** Measures the backlog, given the committed shards. Failure('internal') if the plan is damaged. */
  async measure(log: Pick<ChainTail, 'isCommitted' | 'counts'>, signal: AbortSignal): Promise<Backlog> {
    await this.#plan.poll(signal);
    const { shards, pass, passItems } = this.#plan.state;
    const now = performance.now();
    if (shards > (this.#grown.at(-1)?.shards ?? this.#firstOpen)) this.#grown.push({ shards, at: now });
    while (this.#firstOpen < shards && log.isCommitted(this.#firstOpen)) this.#firstOpen++;
    while (this.#grown[0] !== undefined && this.#grown[0].shards <= this.#firstOpen) this.#grown.shift();
    return {
      items: passItems - log.counts(pass).items,
      oldestSeconds: (now - (this.#grown[0]?.at ?? now)) / 1000,
      commitSeconds: (now - this.#committedAt) / 1000,
    };
  }
}
