import { LANES, type Lane } from '../../domain/item.ts';
import { isClosing, PlanState } from './plan-state.ts';
import { readRecordLines } from '../../files/record-lines.ts';

const FIRST_SHARDS = 1024;

/** Follows a plan that another process writes. Memory: a byte a shard. */
export class PlanTail {
  readonly #path: string;
  readonly #state = new PlanState();
  /** Bytes that were taken in. A plan is only ever appended to, so what was read once stands. */
  #bytes = 0;
  #pass = 0;
  #items = 0;
  /** Index of each shard's lane. */
  #lanes = new Uint8Array(FIRST_SHARDS);

  constructor(path: string) {
    this.#path = path;
  }

  /** Shards planned in all passes: their numbers count up from 0. */
  get shards(): number {
    return this.#state.shards;
  }

  /** The latest pass; 1 while nothing is planned. */
  get pass(): number {
    return Math.max(1, this.#state.pass);
  }

  /** Items planned in the latest pass. */
  get items(): number {
    return this.#items;
  }

  /** Whether the latest pass is planned to its end. */
  get isClosed(): boolean {
    return this.#state.isClosed;
  }

  /** The lane of a shard that is planned. */
  laneOf(shard: number): Lane {
    return LANES[this.#lanes[shard]!]!;
  }

  /**
   * Takes in what was planned since. A plan that does not exist yet is empty. Failure('internal') names a line that
   * does not hold.
   */
  async poll(signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of readRecordLines(this.#path, { signal, from: this.#bytes })) {
        for (const line of batch) {
          this.#take(line);
          this.#bytes += line.length + 1;
        }
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #take(bytes: Buffer): void {
    const line = this.#state.takeBytes(bytes);
    if (line === null || isClosing(line)) return;
    if (line.pass !== this.#pass) {
      this.#pass = line.pass;
      this.#items = 0;
    }
    this.#items += line.items;
    if (line.shard >= this.#lanes.length) {
      const lanes = new Uint8Array(2 * line.shard);
      lanes.set(this.#lanes);
      this.#lanes = lanes;
    }
    this.#lanes[line.shard] = LANES.indexOf(line.lane);
  }
}
