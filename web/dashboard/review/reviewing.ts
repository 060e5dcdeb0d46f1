import { batch, effect, signal, untracked } from '@preact/signals';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { NewReview, Review } from '../../../src/dashboard/api/reviews.ts';
import type { Decision } from '../../../src/domain/outcome.ts';
import { connection, liveReviews } from '../api/events.ts';
import { reviewerName } from '../api/session.ts';
import type { Route } from '../app/route.ts';
import { Details } from '../item/details.ts';
import { Bulk } from './bulk/bulk.ts';
import { fetchDetail, indexed, messageOf } from './review-api.ts';
import { ReviewList } from './review-list.ts';
import { ReviewQueue } from './review-queue.ts';
import { viewOf } from './rows/views.tsx';

/** Decisions that can be undone. */
const MAX_UNDO = 100;

/** Whoever undoes waits for it, wherever they go. */
const NEVER = new AbortController().signal;

/** The item that somebody decides on. */
export interface Judged {
  readonly seq: number;
  /** What the run decided; null for an item that was not judged. */
  readonly decision: Decision | null;
  /** Whether its content is restricted. */
  readonly restricted: boolean;
  /** Reviews that it has: the number of the last one. */
  readonly reviews: number;
}

interface Done {
  readonly seq: number;
  readonly runDecision: Decision | null;
  readonly position: number;
  /** Whether the item had a review before. */
  readonly again: boolean;
}

/** Somebody's work on the items of one run: where they are, what they decide. It outlives the pages that show it. */
export class Reviewing {
  readonly run: string;
  readonly list: ReviewList;
  readonly details: Details;
  readonly queue: ReviewQueue;
  readonly bulk: Bulk;
  /** For screen readers: what happened last. */
  readonly announced = signal('');
  /** Reviews that were made since the page was loaded. */
  readonly made = signal(0);
  /** Whether the list is shown as tiles. */
  grid = false;
  readonly #done: Done[] = [];
  #undoing: Promise<void> = Promise.resolve();

  constructor(run: string) {
    this.run = run;
    this.list = new ReviewList(run);
    this.details = new Details(run);
    this.queue = new ReviewQueue(run, (review) => this.entered(review));
    this.bulk = new Bulk(run, {
      saved: (reviews) => batch(() => reviews.forEach((review) => this.entered(review))),
      end: () => this.list.refresh(),
    });
  }

  /** The list, as it was shown last. */
  get route(): Route {
    return viewOf(this.run, this.grid);
  }

  /** The review that the row of an item shows: one on its way, else the one that is saved. */
  shownReview(row: Pick<ItemRow, 'seq' | 'review'>): ItemRow['review'] {
    const unsaved = this.queue.unsaved.value.get(row.seq);
    return unsaved === undefined ? row.review : unsaved.shown;
  }

  /** Enters a decision and goes on to the next item. */
  decide(item: Pick<Judged, 'seq' | 'decision'>, review: NewReview & { readonly decision: Decision }): void {
    if (this.queue.full) {
      this.announced.value = 'Not taken: too many decisions wait to be saved.';
      return;
    }
    this.#done.push({
      seq: item.seq,
      runDecision: item.decision,
      position: this.list.position.value,
      again: this.#reviewed(item.seq),
    });
    if (this.#done.length > MAX_UNDO) this.#done.shift();
    const agrees = review.decision === item.decision;
    this.queue.save(item.seq, review, { decision: review.decision, agrees });
    this.made.value++;
    this.#goOn(item.seq, `${capital(review.decision)}${agrees ? ', as the run decided' : ''}.`);
  }

  /**
   * Takes back the decision that was made last, by another review that restores what was before, and selects its item. One
   * after another: two may be of copies.
   */
  undo(): Promise<void> {
    this.#undoing = this.#undoing.then(() => this.#undo());
    return this.#undoing;
  }

  async #undo(): Promise<void> {
    const last = this.#done.pop();
    if (last === undefined) {
      this.announced.value = 'Nothing to undo.';
      return;
    }
    this.list.select(last.position);
    await this.queue.settled();
    if (this.queue.giveUpOn(last.seq)) {
      this.announced.value = 'Undone: it had not been saved.';
      return;
    }
    try {
      const before = last.again ? await this.#reviewBefore(last.seq) : null;
      const shown =
        before === null ? null : { decision: before.decision, agrees: before.decision === last.runDecision };
      this.queue.save(last.seq, { ...(before ?? { decision: null }), after: 0 }, shown);
      this.announced.value =
        before === null ? 'Undone: the item is open again.' : 'Undone: the review before holds again.';
    } catch (error) {
      this.announced.value = `Not undone: ${messageOf(error)}`;
    }
  }

  /** Selects another row of the list. */
  move(by: number): void {
    const { list } = this;
    if (!list.select(list.position.value + by) && list.total.value !== null) {
      this.announced.value = by > 0 ? 'This is the last item.' : 'This is the first item.';
    }
  }

  stop(): void {
    this.list.stop();
    this.details.clear();
  }

  #goOn(seq: number, what: string): void {
    const { list } = this;
    const isSelected = list.row.value?.seq === seq;
    const moved = isSelected && list.select(list.position.value + 1);
    const where = `Item ${list.position.value + 1} of ${list.total.value ?? 0}.`;
    this.announced.value = isSelected && !moved ? `${what} That was the last item.` : `${what} ${where}`;
  }

  #reviewed(seq: number): boolean {
    const unsaved = this.queue.unsaved.value.get(seq);
    if (unsaved !== undefined) return unsaved.shown !== null;
    const detail = this.details.of(seq);
    if (detail.kind === 'ready') return (detail.detail.reviews.at(-1)?.decision ?? null) !== null;
    return this.list.row.value?.seq === seq && this.list.row.value.review !== null;
  }

  /** The review before the last one of an item; null if the item was open then. */
  async #reviewBefore(seq: number): Promise<(NewReview & { readonly decision: Decision }) | null> {
    const { reviews } = await indexed(
      () => fetchDetail(this.run, seq, NEVER),
      NEVER,
      () => undefined,
    );
    const before = reviews.at(-2);
    if (before === undefined || before.decision === null) return null;
    const { decision, categories, note, seen } = before;
    return { decision, categories: categories === null ? null : [...categories], note, seen };
  }

  /** Shows a review that was saved, by anybody. */
  entered(review: Review): void {
    this.list.enter(review);
    this.details.enter(review);
  }
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

let current: Reviewing | null = null;

/** The work on a run; that on another run ends. */
export function reviewingOf(run: string): Reviewing {
  // Decisions that wait to be saved belong to whoever made them.
  if (current?.run !== run || current.queue.reviewer !== reviewerName()) {
    current?.stop();
    current = new Reviewing(run);
  }
  return current;
}

/** Shows what others decide, and saves what waits whenever the server is there again. */
export function followReviews(): void {
  effect(() => {
    const reviews = liveReviews.value;
    untracked(() => {
      for (const { run, review } of reviews) if (run === current?.run) current.entered(review);
    });
  });
  effect(() => {
    if (connection.value === 'live') untracked(() => current?.queue.retry());
  });
}
