import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { DECISIONS } from '../../domain/outcome.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import type { Release, Review, ReviewProgress } from './review.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import { REVIEW_FILES, RUN_FILES } from '../../files/run-files.ts';
import { hash } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { ChainedFile } from '../../files/chained-file.ts';
import { NotRegularFileError } from '../../files/open-file.ts';
import { readRunFile } from '../read-run-file.ts';

/** An entry of reviews.jsonl. */
const ENTRY = z.object({
  at: z.string(),
  by: z.string(),
  reviewer: z.string().nullable(),
  seq: z.int().min(0),
  /** Items with the same content, which are decided with it. */
  copies: z.array(z.int().min(0)).default([]),
  decision: z.enum(DECISIONS).nullable(),
  run_decision: z.enum(DECISIONS).nullable(),
  categories: z.array(z.enum(CATEGORY_KEYS)).nullable(),
  note: z.string(),
  seen: z.boolean(),
});

/** Another kind of entry: a person found that an item restricted for Sexual Content may be shown. */
const RELEASE = z.object({
  at: z.string(),
  by: z.string(),
  reviewer: z.string().nullable(),
  released: z.int().min(0),
  /** Hashes of the content. */
  contents: z.array(z.string()),
  note: z.string(),
});

/** What people decided on the items of a run, as far as it was read. The last review of an item counts; one of copies counts for each. */
export class ReviewHistory {
  readonly #bySeq = new Map<number, Review[]>();
  /** Reviews by the hashes of their contents. */
  readonly #released = new Map<string, Release>();
  readonly #progress = { flagged: 0, reviewed: 0, overturned: 0 };

  /** The current reviews of a run. Failure('internal') when the file fails verification. */
  static async read(runDir: string, signal: AbortSignal): Promise<ReviewHistory> {
    const history = new ReviewHistory();
    const chain = await openReviewChain(runDir, 'reviews', (entry) => void history.take(entry));
    if (await hasReviews(runDir)) await chain.read(signal);
    return history;
  }

  /** Takes an entry of the file. Returns the items that it reviews; none for a release. Failure('internal') for one that is neither. */
  take(entry: unknown): readonly number[] {
    const release = RELEASE.safeParse(entry);
    if (release.success) {
      const { contents, by, reviewer, at, note } = release.data;
      for (const sha256 of contents) this.#released.set(sha256, { at, by: reviewer ?? by, note });
      return [];
    }
    const parsed = ENTRY.safeParse(entry);
    if (!parsed.success) {
      throw new Failure(
        'internal',
        `${RUN_FILES.review}/${REVIEW_FILES.reviews} has a line that is no review`,
      );
    }
    const { by, reviewer, copies, ...said } = parsed.data;
    const agrees = said.decision !== null && said.decision === said.run_decision;
    const reviewed = [...new Set([said.seq, ...copies])];
    for (const seq of reviewed) this.#add({ ...said, seq, by: reviewer ?? by, agrees });
    return reviewed;
  }

  #add(said: Omit<Review, 'number'>): void {
    const earlier = this.#bySeq.get(said.seq);
    const review = { ...said, number: (earlier?.length ?? 0) + 1 };
    this.#count(earlier?.at(-1), -1);
    this.#count(review, 1);
    if (earlier === undefined) this.#bySeq.set(review.seq, [review]);
    else earlier.push(review);
  }

  /** All reviews of an item, oldest first. */
  of(seq: number): readonly Review[] {
    return this.#bySeq.get(seq) ?? [];
  }

  /** The review of an item that counts; null if there is none, or it was taken back. */
  last(seq: number): Review | null {
    const last = this.of(seq).at(-1);
    return last === undefined || last.decision === null ? null : last;
  }

  /**
   * The categories that people find in an item: those of its last review that says so, whatever reviews without categories
   * follow it. Null if there is none since the last one that took back what was decided.
   */
  categories(seq: number): Review['categories'] {
    for (const { decision, categories } of this.of(seq).toReversed()) {
      if (decision === null) return null;
      if (categories !== null) return categories;
    }
    return null;
  }

  /** Whether people find in an item what restricts it. */
  isFoundRestricted(seq: number): boolean {
    return this.categories(seq)?.includes(CHILDREN) === true;
  }

  /** Who released a content that is restricted for Sexual Content, by one of its hashes; null if nobody did. */
  releaseOf(sha256: string | null): Release | null {
    return (sha256 !== null && this.#released.get(sha256)) || null;
  }

  isReleased(sha256: string): boolean {
    return this.#released.has(sha256);
  }

  /** Contents that were released. */
  get releases(): number {
    return this.#released.size;
  }

  get progress(): ReviewProgress {
    return { ...this.#progress };
  }

  #count(review: Review | undefined, by: 1 | -1): void {
    if (review === undefined || review.decision === null) return;
    const { run_decision: decision, agrees } = review;
    this.#progress.reviewed += by;
    if (decision === 'review' || decision === 'block') this.#progress.flagged += by;
    if (!agrees) this.#progress.overturned += by;
  }

  /** The reviewed items, in corpus order. */
  seqs(): number[] {
    return [...this.#bySeq.keys()].filter((seq) => this.last(seq) !== null).sort((a, b) => a - b);
  }
}

/**
 * A file in the folder `review` of a run directory: a chain that begins with the hash of run.json. `take` takes every entry
 * once, in order; its keys are not validated.
 */
export async function openReviewChain(
  runDir: string,
  name: keyof typeof REVIEW_FILES,
  take: (entry: Readonly<Record<string, unknown>>) => void,
): Promise<ChainedFile> {
  const within = `${RUN_FILES.review}/${REVIEW_FILES[name]}`;
  const genesis = hash('sha256', await readRunFile(runDir, RUN_FILES.run));
  return new ChainedFile({ path: join(runDir, within), name: within, genesis, take });
}

/** Whether a run has a folder of reviews. Rejects with NotAnOrdinaryFile for anything else in its place, such as a link. */
export async function hasReviews(runDir: string): Promise<boolean> {
  const folder = join(runDir, RUN_FILES.review);
  try {
    if ((await lstat(folder)).isDirectory()) return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
  throw new NotRegularFileError(folder);
}
