import type { z } from 'zod';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import type { Review } from '../../record/reviews/review.ts';
import { hashesOf, RestrictedList } from '../../record/restricted/restricted-list.ts';
import { ReviewHistory } from '../../record/reviews/review-history.ts';
import type { NEW_REVIEW } from '../api/reviews.ts';
import type { ApiFailure } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import { ReviewFile } from './review-file.ts';

type Said = z.output<typeof NEW_REVIEW>;

type AddedReview = Omit<Said, 'seen' | 'after'> & Partial<Said>;

/** Somebody has reviewed an item since the reviewer was shown it. */
export class ReviewedMeanwhile extends DashboardError {
  readonly #review: Review;

  constructor(review: Review) {
    super('REVIEWED_MEANWHILE', 'someone reviewed this item after it was shown: nothing was saved');
    this.#review = review;
  }

  override get body(): ApiFailure {
    return { error: { ...super.body.error, review: this.#review } };
  }
}

/** The reviews of a run, to which new ones are added. */
export class Reviews extends ReviewHistory {
  readonly #dir: string;
  readonly #file: ReviewFile;
  /** Items with a new review since `takeChanged`. */
  readonly #changed: Set<number>;

  private constructor(dir: string, file: ReviewFile, changed: Set<number>) {
    super();
    this.#dir = dir;
    this.#file = file;
    this.#changed = changed;
  }

  /** Reads none yet: see `readOn`. */
  static async open(run: { readonly dir: string; readonly run: string }): Promise<Reviews> {
    const changed = new Set<number>();
    const file = await ReviewFile.open(run, 'reviews', (entry) => {
      for (const seq of reviews.take(entry)) changed.add(seq);
    });
    const reviews = new Reviews(run.dir, file, changed);
    return reviews;
  }

  /** Reads what was added since, by other processes too. Failure('internal') when the file fails verification. */
  readOn(signal: AbortSignal): Promise<void> {
    return this.#file.read(signal);
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

  /**
   * Adds a review by `reviewer`, null for the user of this process, of an item and its copies; it is on disk when this
   * resolves. What it restricts is on the list of the folder of runs before. Throws ReviewedMeanwhile when the item has a review that the reviewer does not
   * know. Failures: see ReviewFile.
   */
  async add(
    line: OutcomeLine,
    review: AddedReview,
    reviewer: string | null = null,
    copies: readonly number[] = [],
  ): Promise<Review> {
    const { run, seq, decision: run_decision } = line;
    const { decision, categories, note, seen = false, after = null } = review;
    const admit = (): void => {
      if (after === null) return;
      // A copy may be in the record later than the others, and have none of their reviews.
      for (const each of [seq, ...copies]) {
        const newest = this.of(each).at(-1);
        if (newest !== undefined && newest.number > after) throw new ReviewedMeanwhile({ ...newest, seq });
      }
    };
    admit();
    if (decision !== null && categories?.includes(CHILDREN) === true) {
      await RestrictedList.beside(this.#dir).addFound({ run, seq }, hashesOf(line));
    }
    const covered = copies.length === 0 ? {} : { copies };
    await this.#file.append(
      { reviewer, seq, ...covered, decision, run_decision, categories, note, seen },
      admit,
    );
    return this.of(seq).at(-1)!;
  }

  /** Releases the content of an item; it is on disk when this resolves. Failures: see ReviewFile. */
  async release(line: OutcomeLine, note: string, reviewer: string | null): Promise<void> {
    await this.#file.append({ reviewer, released: line.seq, contents: hashesOf(line), note });
  }
}
