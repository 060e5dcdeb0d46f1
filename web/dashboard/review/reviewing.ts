import { batch, signal } from '@preact/signals';
import type { NewReview, Review, SavedReview } from '../../../src/dashboard/api/reviews.ts';
import type { Decision } from '../../../src/domain/outcome.ts';
import { ApiError } from '../api/http.ts';
import { reviewerName } from '../api/session.ts';
import { reviewRoute, type Route } from '../app/route.ts';
import { Details } from '../item/details.ts';
import { ENDING_WORDS } from '../ui/badge.tsx';
import { Bulk } from './bulk/bulk.ts';
import { fetchDetail, apiErrorMessage, postReview } from './review-api.ts';
import { ReviewList } from './review-list.ts';

/** Maximum number of decisions that can be undone. */
const MAX_UNDO = 100;

/** Maximum items with changed reviews per request. */
const MAX_RENEWED = 100;

/** The item to decide on. */
export interface Judged {
  readonly seq: number;
  /** The run's decision; null for an item that was not judged. */
  readonly decision: Decision | null;
  /** Whether its content is restricted. */
  readonly restricted: boolean;
  /** Number of reviews that the page shows. */
  readonly reviews: number;
}

interface Done {
  readonly seq: number;
  readonly position: number;
}

/**
 * One reviewer's work on the items of one run: the current place and the decisions. It outlives the pages that show it.
 */
export class Reviewing {
  readonly run: string;
  /** Name of the reviewer; empty until it was given. */
  reviewer = reviewerName();
  readonly list: ReviewList;
  readonly details: Details;
  readonly bulk: Bulk;
  /** The last event, for screen readers. */
  readonly announced = signal('');
  /** Number of reviews made since the page was loaded. */
  readonly made = signal(0);
  /** The item whose review is being saved; null if none is. */
  readonly saving = signal<number | null>(null);
  /** The last review, if saving it failed. */
  readonly failed = signal<{ readonly seq: number; readonly why: string } | null>(null);
  /** Whether the list is shown as tiles. */
  grid = false;
  readonly #done: Done[] = [];
  /** Whether the last decision or undo was saved. */
  #last: Promise<boolean> = Promise.resolve(true);

  constructor(run: string) {
    this.run = run;
    this.list = new ReviewList(run);
    this.details = new Details(run);
    this.bulk = new Bulk(run, {
      saved: (reviews) => batch(() => reviews.forEach((review) => this.#enter(review))),
      end: () => this.list.refresh(),
    });
  }

  /** Route of the list as last shown. */
  get route(): Route {
    return reviewRoute(this.run, this.grid);
  }

  /** Saves a decision, then selects the next item. If saving fails, the item stays selected. */
  async decide(item: Judged, review: NewReview & { readonly decision: Decision }): Promise<void> {
    const { position } = this.list;
    const done = { seq: item.seq, position: position.value };
    this.#last = this.#save(item.seq, async () => ({ ...review, after: item.reviews }));
    if (!(await this.#last)) return;
    this.#done.push(done);
    if (this.#done.length > MAX_UNDO) this.#done.shift();
    this.made.value++;
    const agrees = review.decision === item.decision ? ', as the run decided' : '';
    this.#goOn(item.seq, `${ENDING_WORDS[review.decision]}${agrees}.`);
  }

  /**
   * Takes back the last decision, so the one before it counts again, and selects its item. Waits for the previous
   * decision or undo.
   */
  async undo(): Promise<void> {
    this.#last = this.#undoAfter(this.#last);
    await this.#last;
  }

  async #undoAfter(before: Promise<boolean>): Promise<boolean> {
    await before;
    const last = this.#done.at(-1);
    if (last === undefined) {
      this.announced.value = 'Nothing to undo.';
      return true;
    }
    this.list.select(last.position);
    const saved = await this.#save(last.seq, async () => {
      const newest = (await this.#reviewsOf(last.seq)).at(-1);
      if (newest?.by !== this.reviewer) throw overtaken(newest);
      return { decision: null, after: newest.number };
    });
    if (!saved) return false;
    this.#done.pop();
    const current = this.list.row.value?.review ?? null;
    this.announced.value =
      current === null || current.reopened
        ? 'Undone: the item is open again.'
        : 'Undone: the review before holds again.';
    return true;
  }

  /** Selects another row of the list. */
  move(by: number): void {
    const { list } = this;
    if (!list.select(list.position.value + by) && list.total.value !== null) {
      this.announced.value = by > 0 ? 'This is the last item.' : 'This is the first item.';
    }
  }

  /** Shows the decisions that others have made since on the items of the page. */
  async renew(): Promise<void> {
    for (const seq of await this.list.renew(MAX_RENEWED)) this.details.renew(seq);
  }

  stop(): void {
    this.list.stop();
    this.details.clear();
  }

  /** Returns whether the review was saved; if not, `failed` has the reason. Must not be called concurrently. */
  async #save(seq: number, prepare: () => Promise<NewReview>): Promise<boolean> {
    if (this.saving.value !== null) {
      this.announced.value = 'Not taken: the review before it is still being saved.';
      return false;
    }
    this.saving.value = seq;
    this.failed.value = null;
    try {
      const { copies, ...saved } = await postReview(this.run, seq, await prepare());
      batch(() => [seq, ...copies].forEach((each) => this.#enter({ ...saved, seq: each })));
      return true;
    } catch (error) {
      const newer = error instanceof ApiError ? error.review : null;
      if (newer !== null) this.#enter(newer);
      this.failed.value = { seq, why: newer === null ? apiErrorMessage(error) : overtaken(newer).message };
      return false;
    } finally {
      this.saving.value = null;
    }
  }

  #goOn(seq: number, what: string): void {
    const { list } = this;
    const isSelected = list.row.value?.seq === seq;
    const moved = isSelected && list.select(list.position.value + 1);
    const where = `Item ${list.position.value + 1} of ${list.total.value ?? 0}.`;
    this.announced.value = isSelected && !moved ? `${what} That was the last item.` : `${what} ${where}`;
  }

  async #reviewsOf(seq: number): Promise<readonly Review[]> {
    const known = this.details.get(seq);
    if (known.kind === 'ready') return known.detail.reviews;
    return (await fetchDetail(this.run, seq)).reviews;
  }

  #enter(review: SavedReview): void {
    this.list.enter(review);
    this.details.enter(review);
  }
}

function overtaken(newer: Review | undefined): ApiError {
  const { by = 'Somebody', decision = null } = newer ?? {};
  const what = decision === null ? 'opened this item again' : `decided ${ENDING_WORDS[decision]}`;
  return new ApiError('REVIEWED_MEANWHILE', `${by} ${what} after it was shown.`, 409);
}

let current: Reviewing | null = null;

/** The work on a run. Ends work on another run, or under another name. */
export function getReviewing(run: string): Reviewing {
  const name = reviewerName();
  if (current?.run !== run || ![name, ''].includes(current.reviewer)) {
    current?.stop();
    current = new Reviewing(run);
  }
  current.reviewer = name;
  return current;
}
