import { Failure } from '../domain/failure.ts';
import type { OutcomeLine } from '../domain/outcome.ts';
import { plural } from '../domain/text/plural.ts';
import { readSources } from '../ingest/sources/sources-file.ts';

/** What became of the items of one corpus: items, from the plan, equal verdicts + errors, from the log. */
export interface CorpusAccount {
  /** Index into the configuration's sources. */
  readonly corpus: number;
  readonly items: number;
  readonly verdicts: number;
  readonly errors: number;
}

/** Files that hold no item at all: zero bytes, a header alone, an empty list. */
export interface EmptySources {
  readonly count: number;
  /** Paths of the first of them, at most `MAX_EMPTY_PATHS`. */
  readonly paths: readonly string[];
}

/** A folder may hold a million empty files; the summary names a few. */
const MAX_EMPTY_PATHS = 20;

const HASH_BYTES = 32;

/**
 * Counts outcomes per corpus. Sources are read in order, so the plan's item counts say which seqs belong to which
 * source; every outcome has to name it. Flat arrays and the paths: a corpus may be a folder of a million files.
 */
export class CorpusAccounts {
  readonly #corpusOf: Uint32Array;
  readonly #paths: readonly string[];
  /** Sources that describe other files, so that having no item of their own is nothing to mention. */
  readonly #manifests: ReadonlySet<number>;
  /** First seq after each source. */
  readonly #ends: Float64Array;
  readonly #verdicts: Float64Array;
  readonly #errors: Float64Array;
  /** Per source, of items that are whole files: the hash of the file that was judged; zero when there is none. */
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
   * `itemsBySource` from the line that closes pass 1. Failure('internal') when these are not as many as the sources.
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
   * Takes the outcomes in ascending seq. Failure('internal') when one names another source than its seq belongs to.
   */
  add(line: OutcomeLine): void {
    while (this.#source < this.#ends.length - 1 && line.seq >= this.#ends[this.#source]!) this.#source++;
    if (line.source.path !== this.#paths[this.#source]) {
      throw new Failure(
        'internal',
        `plan.jsonl does not fit the log: item ${line.seq} stands under another source than the one it was planned in`,
      );
    }
    const corpus = this.#corpusOf[this.#source]!;
    const counts = line.status === 'ok' ? this.#verdicts : this.#errors;
    counts[corpus]! += 1;
    const { row, sha256 } = line.source;
    if (row === null && sha256 !== null) this.#fileHashes.write(sha256, this.#source * HASH_BYTES, 'hex');
  }

  /** One account a corpus, in the order of the configuration. */
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

  /** Sources that were read to their end without yielding an item. */
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
