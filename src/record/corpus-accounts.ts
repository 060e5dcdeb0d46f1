import { Failure } from '../domain/failure.ts';
import type { OutcomeLine } from '../domain/outcome.ts';
import { plural } from '../domain/text/plural.ts';
import { readSources } from '../ingest/sources/sources-file.ts';

/** Accounting of one corpus: items are counted from the plan, errors from the log, and the rest are verdicts. */
export interface CorpusAccount {
  /** Index into the configuration's sources. */
  readonly corpus: number;
  readonly items: number;
  readonly verdicts: number;
  readonly errors: number;
}

/** Files without items: zero bytes, only a header, an empty list. */
export interface EmptySources {
  readonly count: number;
  /** Paths of the first such files, at most `MAX_EMPTY_PATHS`. */
  readonly paths: readonly string[];
}

/** Maximum paths in the summary: a folder may hold a million empty files. */
const MAX_EMPTY_PATHS = 20;

const HASH_BYTES = 32;

/**
 * Counts outcomes per corpus. Sources are read in order, so the plan's item counts determine the source of each seq,
 * and every outcome names that source. Flat arrays: a corpus may be a folder of a million files.
 */
export class CorpusAccounts {
  readonly #corpusOf: Uint32Array;
  readonly #paths: readonly string[];
  /** Sources that describe other files: they need no items of their own. */
  readonly #manifests: ReadonlySet<number>;
  /** First seq after each source. */
  readonly #ends: Float64Array;
  readonly #errors: Float64Array;
  /** Hashes of sources that are one item, as the file was judged; zeros for other sources. */
  readonly #fileHashes: Buffer;
  /** Sources with an item that ended as SOURCE_CHANGED. */
  readonly #changed = new Set<number>();
  #source = 0;

  private constructor(
    corpusOf: Uint32Array,
    paths: readonly string[],
    manifests: ReadonlySet<number>,
    ends: Float64Array,
    corpora: number,
  ) {
    this.#corpusOf = corpusOf;
    this.#paths = paths;
    this.#manifests = manifests;
    this.#ends = ends;
    this.#errors = new Float64Array(corpora);
    this.#fileHashes = Buffer.alloc(ends.length * HASH_BYTES);
  }

  /**
   * `itemsBySource` is from the closing line of pass 1. Failure('internal') when its length is not the number of
   * sources.
   */
  static async open(
    sourcesPath: string,
    itemsBySource: readonly number[],
    corpora: number,
    signal: AbortSignal,
  ): Promise<CorpusAccounts> {
    const counted = itemsBySource.length;
    const corpusOf = new Uint32Array(counted);
    const paths: string[] = [];
    const manifests = new Set<number>();
    for await (const batch of readSources(sourcesPath, { signal })) {
      for (const { source, corpus, path, manifest } of batch) {
        if (source < counted) corpusOf[source] = corpus;
        if (manifest === source) manifests.add(source);
        paths.push(path);
      }
    }
    if (paths.length !== counted) {
      throw new Failure(
        'internal',
        `plan.jsonl counts the items of ${counted} ${plural(counted, 'source')}, but sources.jsonl has ${paths.length}`,
      );
    }
    let end = 0;
    const ends = Float64Array.from(itemsBySource, (items) => (end += items));
    return new CorpusAccounts(corpusOf, paths, manifests, ends, corpora);
  }

  /** The source of a seq. Seqs mostly ascend. */
  #sourceOf(seq: number): number {
    const ends = this.#ends;
    const begin = this.#source === 0 ? 0 : ends[this.#source - 1]!;
    if (seq >= begin && seq < ends[this.#source]!) return this.#source;
    let [low, high] = [0, ends.length - 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      if (seq < ends[middle]!) high = middle;
      else low = middle + 1;
    }
    return (this.#source = low);
  }

  /** Must be called with every error. */
  addError({ seq, error }: OutcomeLine): void {
    const source = this.#sourceOf(seq);
    this.#errors[this.#corpusOf[source]!]! += 1;
    if (error?.code === 'SOURCE_CHANGED') this.#changed.add(source);
  }

  /** Must be called with every outcome of a whole file. */
  addFile({ seq, source }: OutcomeLine): void {
    if (source.row !== null || source.sha256 === null) return;
    this.#fileHashes.write(source.sha256, this.#sourceOf(seq) * HASH_BYTES, 'hex');
  }

  /** Failure('internal') when an outcome names a source other than the one its seq belongs to. */
  check({ seq, source }: Pick<OutcomeLine, 'seq' | 'source'>): void {
    if (source.path === this.#paths[this.#sourceOf(seq)]) return;
    throw new Failure(
      'internal',
      `plan.jsonl does not fit the log: item ${seq} names another source than the one it was planned in`,
    );
  }

  /** One account per corpus, in the order of the configuration. */
  accounts(): CorpusAccount[] {
    const items = new Float64Array(this.#errors.length);
    let begin = 0;
    for (const [source, end] of this.#ends.entries()) {
      items[this.#corpusOf[source]!]! += end - begin;
      begin = end;
    }
    return Array.from(items, (count, corpus) => ({
      corpus,
      items: count,
      verdicts: count - this.#errors[corpus]!,
      errors: this.#errors[corpus]!,
    }));
  }

  /** Sources without items, except manifests. */
  emptySources(): EmptySources {
    const paths: string[] = [];
    let count = 0;
    let begin = 0;
    for (const [source, end] of this.#ends.entries()) {
      if (end === begin && !this.#manifests.has(source)) {
        count++;
        if (paths.length < MAX_EMPTY_PATHS) paths.push(this.#paths[source]!);
      }
      begin = end;
    }
    return { count, paths };
  }

  /** Whether a source was found changed while it was judged: no hash then describes what was judged. */
  isChanged(source: number): boolean {
    return this.#changed.has(source);
  }

  /** SHA-256 of a source that is one item, as it was judged; null for any other. */
  fileHash(source: number): string | null {
    const hash = this.#fileHashes.subarray(source * HASH_BYTES, (source + 1) * HASH_BYTES);
    return hash.every((byte) => byte === 0) ? null : hash.toString('hex');
  }
}
