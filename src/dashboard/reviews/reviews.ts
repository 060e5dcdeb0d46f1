import type { z } from 'zod';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CHILDREN } from '../../domain/restriction/restriction.ts';
import { currentReview } from '../../record/reviews/review.ts';
import { hashesOf, RestrictedList } from '../../record/restricted/restricted-list.ts';
import { ReviewHistory } from '../../record/reviews/review-history.ts';
import type { NEW_REVIEW, SavedReview } from '../api/reviews.ts';
import type { ApiFailure } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import { appendEntry } from '../../runs/trust/append-entry.ts';

type Said = z.output<typeof NEW_REVIEW>;

type AddedReview = Omit<Said, 'seen' | 'after'> & Partial<Said>;

/** Thrown if someone has reviewed an item since it was shown to the reviewer. */
export class ReviewedMeanwhile extends DashboardError {
  readonly #review: SavedReview;

  constructor(review: SavedReview) {
    super('REVIEWED_MEANWHILE', 'someone reviewed this item after it was shown: nothing was saved');
    this.#review = review;
  }

  override get body(): ApiFailure {
    return { error: { ...super.body.error, review: this.#review } };
  }
}

/** The reviews of a folder of runs; new ones can be added. */
export class Reviews extends ReviewHistory {
  /** Opens the reviews of the folder that contains a run directory. Reads none yet: see `readOn`. */
  static beside(runDir: string): Reviews {
    return new Reviews(runDir);
  }

  /**
   * Adds a review of an item of the run in `dir` by `reviewer`, null for the user of this process. It is on disk when
   * this resolves. Content that it restricts is added to the list of the folder of runs first. Throws ReviewedMeanwhile
   * if the item has a newer review than the reviewer has seen. Failures: see appendEntry.
   */
  async add(
    dir: string,
    line: OutcomeLine,
    review: AddedReview,
    reviewer: string | null = null,
  ): Promise<SavedReview> {
    const { run, seq, content_sha256, score, decision: run_decision } = line;
    const { decision, categories, note, seen = false, after = null } = review;
    const admit = (): void => {
      const newest = this.of(line).at(-1);
      if (after !== null && newest !== undefined && newest.number > after)
        throw new ReviewedMeanwhile(this.newest(line)!);
    };
    admit();
    if (decision !== null && categories?.includes(CHILDREN) === true)
      await RestrictedList.beside(dir).addFound({ run, seq }, hashesOf(line));
    const said = { reviewer, seq, content_sha256, decision, run_decision, score, categories, note, seen };
    await appendEntry(this.file, { dir, run }, said, admit);
    return this.newest(line)!;
  }

  /** The newest review of an item, with this item's seq and the currently valid review; null if there is none. */
  newest(line: OutcomeLine): SavedReview | null {
    const reviews = this.of(line);
    const newest = reviews.at(-1);
    if (newest === undefined) return null;
    return { ...newest, seq: line.seq, current: currentReview(reviews, line) };
  }

  /** Releases the content of an item in the run in `dir`; it is on disk when this resolves. Failures: see appendEntry. */
  async release(dir: string, line: OutcomeLine, note: string, reviewer: string | null): Promise<void> {
    const { run, seq } = line;
    const said = { reviewer, released: seq, contents: hashesOf(line), note };
    await appendEntry(this.file, { dir, run }, said);
  }
}
