const SKIP_REASONS = [
  'earlier runs',
  'verdict stores',
  'system files',
  'links out of the corpus',
  'links within the corpus',
  'broken links',
  'devices and pipes',
  'folders without content',
] as const;

/** Why a file, or a whole folder of ours, is not read. skipped.jsonl lists these. */
export type SkipReason = (typeof SKIP_REASONS)[number];

export function isSkipReason(reason: string): boolean {
  return SKIP_REASONS.some((known) => known === reason);
}

/** Why a file is not a separate source although sources.jsonl contains it. */
type ListedReason = 'files given twice' | 'captions and transcripts of media';

/** A line of skipped.jsonl. */
export interface SkippedFile {
  /** As in sources.jsonl: the corpus's name and the path below it. Ends in a slash for a folder. */
  readonly path: string;
  readonly reason: SkipReason;
}

/** Collects the files skipped while the corpora are expanded: no file is dropped silently. */
export class SkippedFiles {
  readonly #counts = new Map<string, number>();
  readonly #files: (readonly [corpus: number, relative: string, reason: SkipReason])[] = [];
  #corpus = 0;

  /** Sets the corpus of the files that are added next. */
  enter(corpus: number): void {
    this.#corpus = corpus;
  }

  add(reason: SkipReason, relative: string): void {
    this.#count(reason, 1);
    this.#files.push([this.#corpus, relative, reason]);
  }

  addListed(reason: ListedReason, count: number): void {
    if (count > 0) this.#count(reason, count);
  }

  count(reason: SkipReason): number {
    return this.#counts.get(reason) ?? 0;
  }

  /** Reason to count, without zero counts. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** The files in the order in which they were found; `names` are the names of the corpora. */
  *files(names: readonly string[]): Generator<SkippedFile> {
    for (const [corpus, relative, reason] of this.#files)
      yield { path: `${names[corpus]}/${relative}`, reason };
  }

  #count(reason: string, count: number): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
  }
}
