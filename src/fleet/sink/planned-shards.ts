import { LANES, type Lane } from '../../domain/item.ts';
import { PlanCursor } from '../../ingest/plan/plan-follower.ts';
import type { PlannedShard } from '../../ingest/plan/plan-line.ts';

const FIRST_SHARDS = 1024;
const HASH_BYTES = 32;

/** What the result of a shard is checked against. */
interface PlannedResult {
  readonly pass: number;
  readonly lane: Lane;
  readonly items_sha256: string;
}

/** The shards of a plan that another process writes, by number. Memory: 37 bytes per shard. */
export class PlannedShards {
  readonly #cursor: PlanCursor;
  readonly #signal: AbortSignal;
  #passes = new Uint32Array(FIRST_SHARDS);
  #lanes = new Uint8Array(FIRST_SHARDS);
  #hashes = Buffer.alloc(FIRST_SHARDS * HASH_BYTES);
  /** The cursor advances once at a time. */
  #reading: Promise<void> = Promise.resolve();

  constructor(path: string, signal: AbortSignal) {
    this.#cursor = new PlanCursor(path);
    this.#signal = signal;
  }

  /** The shard planned under a number, read anew if it is not known yet; null when there is none. Rejects as `isComplete`. */
  async find(shard: number): Promise<PlannedResult | null> {
    if (shard >= this.#cursor.state.shards) await this.#read();
    if (shard >= this.#cursor.state.shards) return null;
    const at = shard * HASH_BYTES;
    return {
      pass: this.#passes[shard]!,
      lane: LANES[this.#lanes[shard]!]!,
      items_sha256: this.#hashes.toString('hex', at, at + HASH_BYTES),
    };
  }

  /** Whether the shard may have been fed with items of this hash. Reads on in the plan when the hash is not known yet. */
  async wasFed(shard: number, planned: PlannedResult, items: string): Promise<boolean> {
    const line = { shard, items_sha256: planned.items_sha256 };
    if (this.#cursor.state.wasFed(line, items)) return true;
    await this.#read();
    return this.#cursor.state.wasFed(line, items);
  }

  /**
   * Whether a pass is the latest and closed, and `committed` is the number of planned shards. Failure('internal') when a
   * line of the plan breaks a rule.
   */
  async isComplete(pass: number, committed: number): Promise<boolean> {
    await this.#read();
    const { isClosed, pass: latest, shards } = this.#cursor.state;
    return isClosed && pass === latest && committed === shards;
  }

  /** Reads what is in the plan now; concurrent calls queue up. */
  #read(): Promise<void> {
    const read = (): Promise<void> => this.#cursor.advance((shard) => this.#take(shard), this.#signal);
    this.#reading = this.#reading.catch(() => {}).then(read);
    return this.#reading;
  }

  #take({ shard, pass, lane, items_sha256: items }: PlannedShard): void {
    if (shard >= this.#lanes.length) this.#grow(2 * shard);
    this.#passes[shard] = pass;
    this.#lanes[shard] = LANES.indexOf(lane);
    this.#hashes.write(items, shard * HASH_BYTES, 'hex');
  }

  #grow(shards: number): void {
    const [passes, lanes, hashes] = [this.#passes, this.#lanes, this.#hashes];
    this.#passes = new Uint32Array(shards);
    this.#passes.set(passes);
    this.#lanes = new Uint8Array(shards);
    this.#lanes.set(lanes);
    this.#hashes = Buffer.alloc(shards * HASH_BYTES);
    hashes.copy(this.#hashes);
  }
}
