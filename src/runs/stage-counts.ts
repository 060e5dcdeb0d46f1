import { isKnown } from '../domain/item.ts';
import type { Shard, ShardResult } from '../domain/shard.ts';

/** Counts the items between planning and the log in the process that judges them, for display. */
export class StageCounts {
  #beingJudged = 0;
  #waitingForCommit = 0;
  #reused = 0;

  /** Items that were handed to the guards and have no outcome yet. */
  get beingJudged(): number {
    return this.#beingJudged;
  }

  /** Items that have an outcome which is not committed yet. */
  get waitingForCommit(): number {
    return this.#waitingForCommit;
  }

  /** Verdicts of earlier runs that this process committed. */
  get reused(): number {
    return this.#reused;
  }

  /** A shard is handed to the guards. */
  sent({ items }: Shard): void {
    this.#beingJudged += items.length;
  }

  /** Each item of a shard has an outcome. */
  judged({ shard }: ShardResult): void {
    this.#beingJudged -= shard.items.length;
    this.#waitingForCommit += shard.items.length;
  }

  /** The outcomes of a shard are committed. */
  committed({ shard }: ShardResult): void {
    this.#waitingForCommit -= shard.items.length;
    this.#reused += shard.items.filter(isKnown).length;
  }
}
