import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { DECISIONS } from '../../domain/outcome.ts';
import { CHILDREN } from '../../domain/restriction/restricted.ts';
import type { Review } from './review.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import { REVIEW_FILES, RUN_FILES } from '../../files/run-files.ts';
import { hasReviews, openReviewChain } from './review-chain.ts';

/** An entry of reviews.jsonl. */
const ENTRY = z.object({
  at: z.string(),
  by: z.string(),
  seq: z.int().min(0),
  decision: z.enum(DECISIONS).nullable(),
  run_decision: z.enum(DECISIONS).nullable(),
  categories: z.array(z.enum(CATEGORY_KEYS)).nullable(),
  note: z.string(),
});

/** What people decided on the items of a run, as far as it was read. The last review of an item counts. */
export class ReviewHistory {
  readonly #bySeq = new Map<number, Review[]>();

  /** The reviews of a run as they are now. Failure('internal') when the file does not hold. */
  static async read(runDir: string, signal: AbortSignal): Promise<ReviewHistory> {
    const history = new ReviewHistory();
    const chain = await openReviewChain(runDir, 'reviews', (entry) => void history.take(entry));
    if (await hasReviews(runDir)) await chain.read(signal);
    return history;
  }

  /** Takes an entry of the file. Failure('internal') for one that is no review. */
  take(entry: unknown): Review {
    const parsed = ENTRY.safeParse(entry);
    if (!parsed.success) {
      throw new Failure(
        'internal',
        `${RUN_FILES.review}/${REVIEW_FILES.reviews} has a line that is no review`,
      );
    }
    const { run_decision, ...said } = parsed.data;
    const review = { ...said, agrees: said.decision !== null && said.decision === run_decision };
    const earlier = this.#bySeq.get(review.seq);
    if (earlier === undefined) this.#bySeq.set(review.seq, [review]);
    else earlier.push(review);
    return review;
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

  /** The reviewed items, in corpus order. */
  seqs(): number[] {
    return [...this.#bySeq.keys()].filter((seq) => this.last(seq) !== null).sort((a, b) => a - b);
  }
}
