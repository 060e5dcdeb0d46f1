import { z } from 'zod';
import type { NEW_REVIEW, Review } from '../api/reviews.ts';
import { Failure } from '../../domain/failure.ts';
import { DECISIONS, type OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import { ReviewFile } from './review-file.ts';

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

/** What people decided on the items of a run. The last review of an item counts. */
export class Reviews {
  readonly #file: ReviewFile;
  readonly #bySeq: Map<number, Review[]>;
  /** Items with a new review since `takeChanged`. */
  readonly #changed: Set<number>;

  private constructor(file: ReviewFile, bySeq: Map<number, Review[]>, changed: Set<number>) {
    this.#file = file;
    this.#bySeq = bySeq;
    this.#changed = changed;
  }

  /** Reads none yet: see `read`. */
  static async open(run: { readonly dir: string; readonly run: string }): Promise<Reviews> {
    const bySeq = new Map<number, Review[]>();
    const changed = new Set<number>();
    const file = await ReviewFile.open(run, 'reviews', (entry) => {
      const review = reviewOf(entry);
      const earlier = bySeq.get(review.seq);
      if (earlier === undefined) bySeq.set(review.seq, [review]);
      else earlier.push(review);
      changed.add(review.seq);
    });
    return new Reviews(file, bySeq, changed);
  }

  /** Reads what was added since, by other processes too. Failure('internal') when the file does not hold. */
  read(signal: AbortSignal): Promise<void> {
    return this.#file.read(signal);
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

  /** The reviewed items, in corpus order. */
  seqs(): number[] {
    return [...this.#bySeq.keys()].filter((seq) => this.last(seq) !== null).sort((a, b) => a - b);
  }

  /** The items with a new review since the last call. */
  takeChanged(): readonly number[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Has the next `takeChanged` return these again. */
  putBack(changed: readonly number[]): void {
    for (const seq of changed) this.#changed.add(seq);
  }

  /** Adds a review by the user of this process; it is on disk when this resolves. Failures: see ReviewFile. */
  async add(
    { seq, decision: runDecision }: OutcomeLine,
    review: z.output<typeof NEW_REVIEW>,
  ): Promise<Review> {
    const { decision, categories, note } = review;
    await this.#file.append({ seq, decision, run_decision: runDecision, categories, note });
    return this.of(seq).at(-1)!;
  }
}

function reviewOf(entry: unknown): Review {
  const parsed = ENTRY.safeParse(entry);
  if (!parsed.success) throw new Failure('internal', 'review/reviews.jsonl has a line that is no review');
  const { run_decision, ...review } = parsed.data;
  return { ...review, agrees: review.decision !== null && review.decision === run_decision };
}
