import { LANES, type Lane } from '../../domain/item.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { PlannedShard } from './plan-line.ts';
import { isClosing, PlanState } from './plan-state.ts';

const FIRST_SHARDS = 1024;
/** Bytes per shard: its pass, the index of its lane, and the hash of its items. */
const [LANE_AT, HASH_AT, ENTRY_BYTES] = [4, 5, 37];

/** A planned shard, without the seqs of its items. */
export type ShardSummary = Pick<PlannedShard, 'shard' | 'pass' | 'lane' | 'items_sha256'>;

/** Follows a plan that another process writes; each line is read once. Memory: 37 bytes per shard. */
export class PlanTail {
  readonly #path: string;
  readonly #state = new PlanState();
  /** Bytes read. A plan is append-only, so they do not change. */
  #bytes = 0;
  #shards = Buffer.alloc(FIRST_SHARDS * ENTRY_BYTES);
  /** Reads do not overlap. */
  #reading: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** State of the plan up to the last line read. */
  get state(): Omit<PlanState, 'take' | 'takeBytes' | 'takeChange'> {
    return this.#state;
  }

  /** The shard with this number; null if the part of the plan that was read does not have it. */
  find(shard: number): ShardSummary | null {
    if (shard >= this.#state.shards) return null;
    const at = shard * ENTRY_BYTES;
    return {
      shard,
      pass: this.#shards.readUInt32LE(at),
      lane: LANES[this.#shards[at + LANE_AT]!] as Lane,
      items_sha256: this.#shards.toString('hex', at + HASH_AT, at + ENTRY_BYTES),
    };
  }

  /**
   * Reads the lines appended since the last call; a missing plan counts as empty. Concurrent calls queue up.
   * Failure('internal') names an invalid line.
   */
  poll(signal: AbortSignal): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read(signal));
    return this.#reading;
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of readRecordLines(this.#path, { signal, from: this.#bytes })) {
        for (const bytes of batch) {
          const line = this.#state.takeBytes(bytes);
          if (line !== null && !isClosing(line)) this.#take(line);
          this.#bytes += bytes.length + 1;
        }
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #take({ shard, pass, lane, items_sha256: items }: PlannedShard): void {
    const at = shard * ENTRY_BYTES;
    if (at >= this.#shards.length) {
      this.#shards = Buffer.concat([this.#shards, Buffer.alloc(this.#shards.length)]);
    }
    this.#shards.writeUInt32LE(pass, at);
    this.#shards[at + LANE_AT] = LANES.indexOf(lane);
    this.#shards.write(items, at + HASH_AT, 'hex');
  }
}
