import { LANES, type Lane } from '../../domain/item.ts';
import { PlanCursor } from './plan-follower.ts';
import type { PlannedShard } from './plan-line.ts';

const INITIAL_CAPACITY = 1024;

/** Follows a plan that another process writes: totals, and the lane of each shard. Memory: 1 byte per shard. */
export class PlanTail {
  readonly #cursor: PlanCursor;
  #pass = 0;
  #items = 0;
  /** By shard number, the index of its lane in LANES. */
  #lanes = new Uint8Array(INITIAL_CAPACITY);

  constructor(path: string) {
    this.#cursor = new PlanCursor(path);
  }

  /** Shards planned in all passes: their numbers count up from 0. */
  get shards(): number {
    return this.#cursor.state.shards;
  }

  /** The latest pass; 1 while nothing is planned. */
  get pass(): number {
    return Math.max(1, this.#cursor.state.pass);
  }

  /** Items planned in the latest pass. */
  get items(): number {
    return this.#items;
  }

  /** Whether the latest pass is completely planned. */
  get isClosed(): boolean {
    return this.#cursor.state.isClosed;
  }

  /** The lane of a planned shard. */
  laneOf(shard: number): Lane {
    return LANES[this.#lanes[shard]!]!;
  }

  /** Reads the lines appended since the last call. Rejects as `PlanCursor.advance` does. */
  poll(signal: AbortSignal): Promise<void> {
    return this.#cursor.advance((shard) => this.#take(shard), signal);
  }

  #take(shard: PlannedShard): void {
    if (shard.pass !== this.#pass) {
      this.#pass = shard.pass;
      this.#items = 0;
    }
    this.#items += shard.items;
    if (shard.shard >= this.#lanes.length) {
      const lanes = new Uint8Array(2 * shard.shard);
      lanes.set(this.#lanes);
      this.#lanes = lanes;
    }
    this.#lanes[shard.shard] = LANES.indexOf(shard.lane);
  }
}
