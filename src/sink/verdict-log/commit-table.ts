import { type CommitLine, type ShardCounts } from './chain-line.ts';

/** Where the outcome lines of a committed shard are. */
export interface CommittedRange {
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
}

const HASH_BYTES = 32;

/**
 * The committed shards by number. Kept in flat arrays, about 50 bytes a shard, because a large run has millions of
 * shards. A shard counts once: the first commit stands.
 */
export class CommitTable {
  readonly #segments: string[] = [];
  readonly #segmentIndex = new Map<string, number>();
  readonly #counts = new Map<number, ShardCounts>();
  /** Index of the segment plus 1; 0: not committed. */
  #segment = new Uint32Array(1024);
  #offset = new Float64Array(1024);
  #length = new Float64Array(1024);
  #sha256 = Buffer.alloc(1024 * HASH_BYTES);
  #shards = 0;

  /** Number of committed shards. */
  get shards(): number {
    return this.#shards;
  }

  has(shard: number): boolean {
    return (this.#segment[shard] ?? 0) > 0;
  }

  get(shard: number): CommittedRange | null {
    const segment = this.#segments[(this.#segment[shard] ?? 0) - 1];
    if (segment === undefined) return null;
    return {
      segment,
      offset: this.#offset[shard]!,
      length: this.#length[shard]!,
      sha256: this.#sha256.toString('hex', shard * HASH_BYTES, (shard + 1) * HASH_BYTES),
    };
  }

  /** Sums over the committed shards of a pass. */
  counts(pass: number): ShardCounts {
    return this.#counts.get(pass) ?? { items: 0, errors: 0, review: 0, block: 0 };
  }

  /** Takes a commit in; gives false, and changes nothing, when the shard is committed already. */
  add(commit: CommitLine): boolean {
    const { shard } = commit;
    if (this.has(shard)) return false;
    if (shard >= this.#segment.length) this.#grow(shard + 1);
    let index = this.#segmentIndex.get(commit.segment);
    if (index === undefined) {
      index = this.#segments.push(commit.segment);
      this.#segmentIndex.set(commit.segment, index);
    }
    this.#segment[shard] = index;
    this.#offset[shard] = commit.offset;
    this.#length[shard] = commit.length;
    this.#sha256.write(commit.sha256, shard * HASH_BYTES, 'hex');
    this.#shards++;
    const sum = this.counts(commit.pass);
    this.#counts.set(commit.pass, {
      items: sum.items + commit.items,
      errors: sum.errors + commit.errors,
      review: sum.review + commit.review,
      block: sum.block + commit.block,
    });
    return true;
  }

  #grow(shards: number): void {
    const capacity = Math.max(shards, this.#segment.length * 2);
    const segment = new Uint32Array(capacity);
    const offset = new Float64Array(capacity);
    const length = new Float64Array(capacity);
    const sha256 = Buffer.alloc(capacity * HASH_BYTES);
    segment.set(this.#segment);
    offset.set(this.#offset);
    length.set(this.#length);
    sha256.set(this.#sha256);
    this.#segment = segment;
    this.#offset = offset;
    this.#length = length;
    this.#sha256 = sha256;
  }
}
