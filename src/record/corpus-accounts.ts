import { Failure } from '../domain/failure.ts';
import type { OutcomeLine } from '../domain/outcome.ts';
import { plural } from '../domain/text/plural.ts';
import { readSources } from '../ingest/sources/sources-file.ts';

/** The items of one corpus: `items`, counted from the plan, equals `verdicts + errors`, counted from the log. */
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
  /** Paths of the first of them, at most `MAX_EMPTY_PATHS`. */
  readonly paths: readonly string[];
}

/** Paths in the summary: a folder may hold a million empty files. */
const MAX_EMPTY_PATHS = 20;

const HASH_BYTES = 32;

/**
 * Counts outcomes per corpus. Sources are read in order, so the plan's item counts determine the source of each seq,
 * and every outcome has to name that source. Flat arrays: a corpus may be a folder of a million files.
 */
export class CorpusAccounts {
  readonly #corpusOf: Uint32Array;
  readonly #paths: readonly string[];
  /** Sources that describe other files: they need no items of their own. */
  readonly #manifests: ReadonlySet<number>;
  /** Per source, the first seq after it. */
  readonly #ends: Float64Array;
  readonly #verdicts: Float64Array;
  readonly #errors: Float64Array;
  /** Per source that is one item: the hash of the file as it was judged; zeros for any other. */
  readonly #fileHashes: Buffer;
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
    this.#verdicts = new Float64Array(corpora);
    this.#errors = new Float64Array(corpora);
    this.#fileHashes = Buffer.alloc(ends.length * HASH_BYTES);
  }

  /**
   * `itemsBySource` is from the closing line of pass 1. Failure('internal') when its length is not the number of sources.
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

  /**
   * To be called in ascending seq. Failure('internal') when an outcome names another source than its seq belongs to.
   */
  add(line: OutcomeLine): void {
    while (this.#source < this.#ends.length - 1 && line.seq >= this.#ends[this.#source]!) this.#source++;
    if (line.source.path !== this.#paths[this.#source]) {
      throw new Failure(
        'internal',
        `plan.jsonl does not fit the log: item ${line.seq} names another source than the one it was planned in`,
      );
    }
    const corpus = this.#corpusOf[this.#source]!;
    const counts = line.status === 'ok' ? this.#verdicts : this.#errors;
    counts[corpus]! += 1;
    const { row, sha256 } = line.source;
    if (row === null && sha256 !== null) this.#fileHashes.write(sha256, this.#source * HASH_BYTES, 'hex');
  }

  /** One account per corpus, in the order of the configuration. */
  accounts(): CorpusAccount[] {
    const items = new Float64Array(this.#verdicts.length);
    let begin = 0;
    for (const [source, end] of this.#ends.entries()) {
      items[this.#corpusOf[source]!]! += end - begin;
      begin = end;
    }
    return Array.from(items, (count, corpus) => ({
      corpus,
      items: count,
      verdicts: this.#verdicts[corpus]!,
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

  /** SHA-256 of a source that is one item, as it was judged; null for any other. */
  fileHash(source: number): string | null {
    const hash = this.#fileHashes.subarray(source * HASH_BYTES, (source + 1) * HASH_BYTES);
    return hash.every((byte) => byte === 0) ? null : hash.toString('hex');
  }
}
