import { signal } from '@preact/signals';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { NewReview, Review } from '../../../src/dashboard/api/reviews.ts';
import { messageOf, postReview } from './review-api.ts';

/** Reviews that wait to be saved, or could not be. With so many, none is taken any more. */
const MAX_UNSAVED = 50;

/**
 * A review on its way. It is shown at once, in place of the one that is saved.
 *
 *   taken ─► saving ─► saved (and gone from here)
 *              │  ▲
 *              ▼  │ try again
 *            failed ─► given up (and gone from here)
 */
export interface Unsaved {
  readonly seq: number;
  readonly review: NewReview;
  /** As the row of its item shows it. */
  readonly shown: ItemRow['review'];
  readonly state: 'saving' | 'failed';
  /** Why it was not saved; empty while it is being saved. */
  readonly message: string;
}

/**
 * Saves reviews one after another, in the order in which they were made. It goes on when its page is left: what somebody
 * decided is not lost by going elsewhere.
 */
export class ReviewQueue {
  readonly #run: string;
  readonly #onSaved: (review: Review) => void;
  #last: Promise<void> = Promise.resolve();

  /** By item. */
  readonly unsaved = signal<ReadonlyMap<number, Unsaved>>(new Map());

  constructor(run: string, onSaved: (review: Review) => void) {
    this.#run = run;
    this.#onSaved = onSaved;
  }

  /** Whether another review can be taken. */
  get full(): boolean {
    return this.unsaved.value.size >= MAX_UNSAVED;
  }

  /** Saves a review after those before it. */
  save(seq: number, review: NewReview, shown: ItemRow['review']): void {
    const mine: Unsaved = { seq, review, shown, state: 'saving', message: '' };
    this.#set(mine);
    this.#last = this.#last.then(() => this.#send(mine));
  }

  /** Resolves when what was taken so far is saved, or failed. */
  settled(): Promise<void> {
    return this.#last;
  }

  /** Tries those again that failed. */
  retry(): void {
    for (const { seq, review, shown, state } of this.unsaved.value.values()) {
      if (state === 'failed') this.save(seq, review, shown);
    }
  }

  /** Forgets those that failed: their items keep the reviews that are saved. */
  giveUp(): void {
    for (const { seq, state } of this.unsaved.value.values()) if (state === 'failed') this.#forget(seq);
  }

  /** Forgets the review of an item if it failed, and returns whether it did. */
  giveUpOn(seq: number): boolean {
    if (this.unsaved.value.get(seq)?.state !== 'failed') return false;
    this.#forget(seq);
    return true;
  }

  async #send(mine: Unsaved): Promise<void> {
    try {
      const saved = await postReview(this.#run, mine.seq, mine.review);
      this.#onSaved(saved);
      // Unless a later review of the same item waits.
      if (this.unsaved.value.get(mine.seq) === mine) this.#forget(mine.seq);
    } catch (error) {
      if (this.unsaved.value.get(mine.seq) !== mine) return;
      this.#set({ ...mine, state: 'failed', message: messageOf(error) });
    }
  }

  #set(unsaved: Unsaved): void {
    this.unsaved.value = new Map(this.unsaved.value).set(unsaved.seq, unsaved);
  }

  #forget(seq: number): void {
    const left = new Map(this.unsaved.value);
    left.delete(seq);
    this.unsaved.value = left;
  }
}
