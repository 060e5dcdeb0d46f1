import { constants, deflateRawSync, inflateRawSync } from 'node:zlib';

const SKIP_REASONS = [
  'files of earlier runs',
  'system files',
  'links out of the corpus',
  'links within the corpus',
  'broken links',
  'devices and pipes',
] as const;

/** Why a file that was found is not read, so that skipped.jsonl lists it. */
export type SkipReason = (typeof SKIP_REASONS)[number];

export function isSkipReason(reason: string): boolean {
  return SKIP_REASONS.some((known) => known === reason);
}

/** Files that are not read under the name they were found by, but are in sources.jsonl all the same. */
type ListedReason = 'files given twice' | 'captions and transcripts of media';

/** How much text is packed at once. */
const BLOCK_BYTES = 256 * 1024;

/** A line of skipped.jsonl. */
export interface SkippedFile {
  /** As in sources.jsonl: the corpus's name and the path below it. */
  readonly path: string;
  readonly reason: SkipReason;
}

/**
 * What was passed over while the corpora were expanded, so that nothing goes missing in silence. The list is kept
 * compressed until the run has a directory to write it in: paths below one folder have most in common.
 */
export class SkippedFiles {
  readonly #counts = new Map<string, number>();
  readonly #packed: Buffer[] = [];
  #open: string[] = [];
  #openBytes = 0;
  #corpus = 0;

  /** What is added from now on is in this corpus. */
  enter(corpus: number): void {
    this.#corpus = corpus;
  }

  add(reason: SkipReason, relative: string): void {
    this.#count(reason, 1);
    const line = JSON.stringify([this.#corpus, relative, reason]);
    this.#open.push(line);
    this.#openBytes += line.length;
    if (this.#openBytes >= BLOCK_BYTES) this.#pack();
  }

  addListed(reason: ListedReason, count: number): void {
    if (count > 0) this.#count(reason, count);
  }

  count(reason: SkipReason): number {
    return this.#counts.get(reason) ?? 0;
  }

  /** Reason to count, as far as there were any. */
  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** The files in the order they were found; `names` are those of the corpora. */
  *files(names: readonly string[]): Generator<SkippedFile> {
    const blocks = this.#packed.map((block) => () => inflateRawSync(block).toString());
    for (const text of [...blocks, () => this.#open.join('\n')]) {
      for (const line of text().split('\n')) {
        if (line === '') continue;
        const [corpus, relative, reason] = JSON.parse(line) as [number, string, SkipReason];
        yield { path: `${names[corpus]}/${relative}`, reason };
      }
    }
  }

  #count(reason: string, count: number): void {
    this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + count);
  }

  #pack(): void {
    this.#packed.push(deflateRawSync(this.#open.join('\n'), { level: constants.Z_BEST_SPEED }));
    this.#open = [];
    this.#openBytes = 0;
  }
}
