import { hash } from 'node:crypto';
import type { ShardCounts, ShardTally } from '../shard-tally.ts';
import { Tally } from '../tally.ts';
import type { CommitLine } from './chain-line.ts';

/** Where the outcome lines of a committed shard are. */
export interface CommittedRange {
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
  /** What its lines have, as bits of `HAS`. */
  readonly has: number;
}

/** What of a shard is made from its lines when the run is finished. */
export const HAS = { errors: 1, turns: 2, batchParts: 4 } as const;

const PAGE_SHARDS = 1024;
const HASH_BYTES = 32;
const CHECK_BYTES = 8;

const NONE: ShardCounts = { items: 0, errors: 0, review: 0, block: 0 };

/** Flat arrays for a range of shard numbers. */
class Page {
  /** Index of the segment plus 1; 0: not committed. */
  readonly segment = new Uint32Array(PAGE_SHARDS);
  readonly offset = new Float64Array(PAGE_SHARDS);
  readonly length = new Float64Array(PAGE_SHARDS);
  readonly sha256 = Buffer.alloc(PAGE_SHARDS * HASH_BYTES);
  readonly has = new Uint8Array(PAGE_SHARDS);
  /** Beginnings of the hashes of tallies. */
  readonly tallies = Buffer.alloc(PAGE_SHARDS * CHECK_BYTES);
}

/**
 * The committed shards by number, at about 60 bytes per shard: a large run has millions. A shard counts once: the first
 * commit wins. Paged, so that an absurd shard number in a damaged log costs one page.
 */
export class CommitTable {
  readonly #pages = new Map<number, Page>();
  readonly #segments: string[] = [];
  readonly #segmentIndex = new Map<string, number>();
  readonly #counts = new Map<number, ShardCounts>();
  /** Over all passes. */
  readonly tally = new Tally();
  #shards = 0;

  /** Number of committed shards. */
  get shards(): number {
    return this.#shards;
  }

  has(shard: number): boolean {
    const page = this.#pages.get(Math.floor(shard / PAGE_SHARDS));
    return page !== undefined && page.segment[shard % PAGE_SHARDS]! > 0;
  }

  get(shard: number): CommittedRange | null {
    const page = this.#pages.get(Math.floor(shard / PAGE_SHARDS));
    const at = shard % PAGE_SHARDS;
    const segment = this.#segments[(page?.segment[at] ?? 0) - 1];
    if (page === undefined || segment === undefined) return null;
    return {
      segment,
      offset: page.offset[at]!,
      length: page.length[at]!,
      sha256: page.sha256.toString('hex', at * HASH_BYTES, (at + 1) * HASH_BYTES),
      has: page.has[at]!,
    };
  }

  /** Whether the commit line of a shard holds this tally. */
  holdsTally(shard: number, tally: ShardTally): boolean {
    const page = this.#pages.get(Math.floor(shard / PAGE_SHARDS));
    const at = (shard % PAGE_SHARDS) * CHECK_BYTES;
    return page?.tallies.subarray(at, at + CHECK_BYTES).equals(tallyCheck(tally)) === true;
  }

  /** Sums over the committed shards of a pass. */
  counts(pass: number): ShardCounts {
    return this.#counts.get(pass) ?? NONE;
  }

  /** Does nothing when the shard is already committed. */
  add(commit: CommitLine): void {
    if (this.has(commit.shard)) return;
    const page = this.#page(Math.floor(commit.shard / PAGE_SHARDS));
    const at = commit.shard % PAGE_SHARDS;
    page.segment[at] = this.#segmentNumber(commit.segment);
    page.offset[at] = commit.offset;
    page.length[at] = commit.length;
    page.sha256.write(commit.sha256, at * HASH_BYTES, 'hex');
    this.#shards++;
    page.has[at] = hasOf(commit.tally);
    tallyCheck(commit.tally).copy(page.tallies, at * CHECK_BYTES);
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

  #page(index: number): Page {
    let page = this.#pages.get(index);
    if (page === undefined) {
      page = new Page();
      this.#pages.set(index, page);
    }
    return page;
  }

  #segmentNumber(name: string): number {
    let number = this.#segmentIndex.get(name);
    if (number === undefined) {
      number = this.#segments.push(name);
      this.#segmentIndex.set(name, number);
    }
    return number;
  }
}

function hasOf({ by }: ShardTally): number {
  const { turn, batch_part: part } = by.with ?? {};
  return (
    (by.code === undefined ? 0 : HAS.errors) |
    (turn === undefined ? 0 : HAS.turns) |
    (part === undefined ? 0 : HAS.batchParts)
  );
}

function tallyCheck(tally: ShardTally): Buffer {
  return hash('sha256', JSON.stringify(tally), 'buffer').subarray(0, CHECK_BYTES);
}
