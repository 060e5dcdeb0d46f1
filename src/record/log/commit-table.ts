import { hash } from 'node:crypto';
import type { ShardCounts, ShardTally } from '../shard-tally.ts';
import { Tally } from '../tally.ts';
import type { CommitLine } from './chain-line.ts';

/** Position of a committed shard's outcome lines. */
export interface CommittedRange {
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
  /** Properties of its lines, as bits of `HAS`. */
  readonly has: number;
}

/** Parts of a shard that are extracted from its lines when the run is finished. */
export const HAS = { errors: 1, batchParts: 2 } as const;

const NONE: ShardCounts = { items: 0, errors: 0, review: 0, block: 0 };

/**
 * A row: offset (8 bytes), length (8), SHA-256 (32), beginning of the tally's hash (8), segment (4), `has` (1),
 * padding.
 */
const ROW_BYTES = 64;
const AT = { offset: 0, length: 8, sha256: 16, tally: 48, segment: 56, has: 60 } as const;
const HASH_BYTES = 32;
const CHECK_BYTES = 8;

/** The committed shards in one growing array, about 100 bytes per shard. A shard counts once: the first commit wins. */
export class CommitTable {
  #rows = Buffer.alloc(1024 * ROW_BYTES);
  /** Start of each shard's row. Shard numbers of a damaged log may be absurd, so they cannot serve as an index. */
  readonly #starts = new Map<number, number>();
  readonly #segments: string[] = [];
  readonly #counts = new Map<number, ShardCounts>();
  /** Over all passes. */
  readonly tally = new Tally();

  /** Number of committed shards. */
  get shards(): number {
    return this.#starts.size;
  }

  has(shard: number): boolean {
    return this.#starts.has(shard);
  }

  get(shard: number): CommittedRange | null {
    const row = this.#row(shard);
    if (row === null) return null;
    return {
      segment: this.#segments[row.readUInt32LE(AT.segment)]!,
      offset: row.readDoubleLE(AT.offset),
      length: row.readDoubleLE(AT.length),
      sha256: row.toString('hex', AT.sha256, AT.sha256 + HASH_BYTES),
      has: row[AT.has]!,
    };
  }

  /** Whether the commit line of a shard contains this tally. */
  holdsTally(shard: number, tally: ShardTally): boolean {
    const check = this.#row(shard)?.subarray(AT.tally, AT.tally + CHECK_BYTES);
    return check?.equals(tallyCheck(tally)) === true;
  }

  /** Sums over the committed shards of a pass. */
  counts(pass: number): ShardCounts {
    return this.#counts.get(pass) ?? NONE;
  }

  /** Does nothing when the shard is already committed. */
  add(commit: CommitLine): void {
    if (this.has(commit.shard)) return;
    const start = this.#starts.size * ROW_BYTES;
    if (start === this.#rows.length) this.#rows = Buffer.concat([this.#rows], 2 * start);
    this.#starts.set(commit.shard, start);
    const row = this.#row(commit.shard)!;
    row.writeDoubleLE(commit.offset, AT.offset);
    row.writeDoubleLE(commit.length, AT.length);
    row.write(commit.sha256, AT.sha256, 'hex');
    tallyCheck(commit.tally).copy(row, AT.tally);
    row.writeUInt32LE(this.#segmentNumber(commit.segment), AT.segment);
    row[AT.has] = hasOf(commit.tally);
    this.tally.merge(commit.tally);
    const sum = this.counts(commit.pass);
    const { items, errors, review, block } = commit.tally;
    this.#counts.set(commit.pass, {
      items: sum.items + items,
      errors: sum.errors + errors,
      review: sum.review + review,
      block: sum.block + block,
    });
  }

  #row(shard: number): Buffer | null {
    const start = this.#starts.get(shard);
    return start === undefined ? null : this.#rows.subarray(start, start + ROW_BYTES);
  }

  /**
   * Returns the number of a segment. An epoch writes its segments in sequence, so the newest is usually the right one.
   */
  #segmentNumber(name: string): number {
    const known = this.#segments.lastIndexOf(name);
    return known === -1 ? this.#segments.push(name) - 1 : known;
  }
}

function hasOf({ by }: ShardTally): number {
  return (by.code === undefined ? 0 : HAS.errors) | (by.with?.batch_part === undefined ? 0 : HAS.batchParts);
}

function tallyCheck(tally: ShardTally): Buffer {
  return hash('sha256', JSON.stringify(tally), 'buffer').subarray(0, CHECK_BYTES);
}
