import { LANES, type Lane } from '../../domain/item.ts';
import { isClosing, PlanState } from '../../ingest/plan/plan-state.ts';
import { readRecordLines } from '../../files/record-lines.ts';

const FIRST_SHARDS = 1024;
const HASH_BYTES = 32;

/** What a result of a shard is held to. */
export interface PlannedResult {
  readonly pass: number;
  readonly lane: Lane;
  readonly items_sha256: string;
}

/** The shards of a plan that another process writes, by number. Memory: 37 bytes a shard. */
export class PlannedShards {
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #state = new PlanState();
  /** Bytes that were taken in. A plan is only ever appended to, so what was read once stands. */
  #bytes = 0;
  #passes = new Uint32Array(FIRST_SHARDS);
  #lanes = new Uint8Array(FIRST_SHARDS);
  #hashes = Buffer.alloc(FIRST_SHARDS * HASH_BYTES);
  /** One reads at a time. */
  #reading: Promise<void> = Promise.resolve();

  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
  }

  /** What is planned under a number, also if that was a moment ago; null when nothing is. Rejects as `isComplete`. */
  async find(shard: number): Promise<PlannedResult | null> {
    if (shard >= this.#state.shards) await this.#read();
    if (shard >= this.#state.shards) return null;
    const at = shard * HASH_BYTES;
    return {
      pass: this.#passes[shard]!,
      lane: LANES[this.#lanes[shard]!]!,
      items_sha256: this.#hashes.toString('hex', at, at + HASH_BYTES),
    };
  }

  /** Whether the shard may have been fed with the items of a hash; one that is not the planned is looked for anew. */
  async wasFed(shard: number, planned: PlannedResult, items: string): Promise<boolean> {
    const line = { shard, items_sha256: planned.items_sha256 };
    if (this.#state.wasFed(line, items)) return true;
    await this.#read();
    return this.#state.wasFed(line, items);
  }

  /**
   * Whether a pass is the latest and planned to its end, with as many shards as are committed. Failure('internal') when
   * the plan does not hold.
   */
  async isComplete(pass: number, committed: number): Promise<boolean> {
    await this.#read();
    const { isClosed, pass: latest, shards } = this.#state;
    return isClosed && pass === latest && committed === shards;
  }

  /** Takes in what was planned up to now, or later. */
  #read(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#readOn());
    return this.#reading;
  }

  async #readOn(): Promise<void> {
    try {
      for await (const batch of readRecordLines(this.#path, { signal: this.#signal, from: this.#bytes })) {
        for (const line of batch) {
          this.#take(line);
          this.#bytes += line.length + 1;
        }
      }
    } catch (error) {
      // Nothing is planned yet.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }

  #take(bytes: Buffer): void {
    const line = this.#state.takeBytes(bytes);
    if (line === null || isClosing(line)) return;
    const { shard } = line;
    if (shard >= this.#lanes.length) this.#grow(2 * shard);
    this.#passes[shard] = line.pass;
    this.#lanes[shard] = LANES.indexOf(line.lane);
    this.#hashes.write(line.items_sha256, shard * HASH_BYTES, 'hex');
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
