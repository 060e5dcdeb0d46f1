import type { CommitLine, ShardCounts } from './chain-line.ts';

/** Where the outcome lines of a committed shard are. */
export interface CommittedRange {
  /** Name in `log`. */
  readonly segment: string;
  readonly offset: number;
  readonly length: number;
  readonly sha256: string;
}

const PAGE_SHARDS = 1024;
const HASH_BYTES = 32;

const NONE: ShardCounts = { items: 0, errors: 0, copies: 0, review: 0, block: 0 };

/** Flat arrays for a range of shard numbers. */
class Page {
  /** Index of the segment plus 1; 0: not committed. */
  readonly segment = new Uint32Array(PAGE_SHARDS);
  readonly offset = new Float64Array(PAGE_SHARDS);
  readonly length = new Float64Array(PAGE_SHARDS);
  readonly sha256 = Buffer.alloc(PAGE_SHARDS * HASH_BYTES);
}

/**
 * The committed shards by number, at about 50 bytes per shard: a large run has millions. A shard counts once: the first
 * commit wins. Paged, so that an absurd shard number in a damaged log costs one page.
 */
export class CommitTable {
  readonly #pages = new Map<number, Page>();
  readonly #segments: string[] = [];
  readonly #segmentIndex = new Map<string, number>();
  readonly #counts = new Map<number, ShardCounts>();
  #shards = 0;

  /** Number of committed shards. */
  get shards(): number {
    return this.#shards;
  }

  /** Copies in the committed shards of all passes. */
  get copies(): number {
    let copies = 0;
    for (const counts of this.#counts.values()) copies += counts.copies;
    return copies;
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
    };
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
    const sum = this.counts(commit.pass);
    this.#counts.set(commit.pass, {
      items: sum.items + commit.items,
      errors: sum.errors + commit.errors,
      copies: sum.copies + commit.copies,
      review: sum.review + commit.review,
      block: sum.block + commit.block,
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
