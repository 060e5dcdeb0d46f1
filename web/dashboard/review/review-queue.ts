import { signal } from '@preact/signals';
import type { ItemRow } from '../../../src/dashboard/api/items.ts';
import type { NewReview, Review } from '../../../src/dashboard/api/reviews.ts';
import { ApiError } from '../api/http.ts';
import { reviewerName } from '../api/session.ts';
import { messageOf, postReview } from './review-api.ts';
import { dropUnsaved, keepUnsaved, keptUnsaved } from './unsaved-store.ts';

/** Reviews that wait to be saved, or could not be. With so many, none is taken any more. */
export const MAX_UNSAVED = 50;

/** Whether a saved review is the one that was asked for. */
const saysTheSame = (mine: NewReview, other: Review): boolean =>
  mine.decision === other.decision &&
  (mine.note ?? '') === other.note &&
  JSON.stringify(mine.categories ?? null) === JSON.stringify(other.categories);

/**
 * A review on its way. It is shown at once, in place of the one that is saved.
 *
 *   taken ─► saving ─► saved (and gone from here)
 *              │  ▲
 *              ▼  │ try again, or save anyway
 *     failed, or reviewed meanwhile ─► given up (and gone from here)
 */
export interface Unsaved {
  readonly seq: number;
  readonly review: NewReview;
  /** As the row of its item shows it. */
  readonly shown: ItemRow['review'];
  readonly state: 'saving' | 'failed';
  /** Why it was not saved; empty while it is being saved. */
  readonly message: string;
  /** The review by which somebody was faster; null: none. */
  readonly newer: Review | null;
}

/**
 * Saves reviews one after another, in the order in which they were made. It goes on when its page is left, and begins with
 * what this browser kept: what somebody decided is not lost by going elsewhere, nor with the session or the server.
 */
export class ReviewQueue {
  readonly #run: string;
  /** Who decides. */
  readonly reviewer = reviewerName();
  /** By item: the number of the last review that was saved from here, or that somebody chose to overrule. */
  readonly #known = new Map<number, number>();
  readonly #onSaved: (review: Review) => void;
  #last: Promise<void> = Promise.resolve();

  /** By item. */
  readonly unsaved = signal<ReadonlyMap<number, Unsaved>>(new Map());

  constructor(run: string, onSaved: (review: Review) => void) {
    this.#run = run;
    this.#onSaved = onSaved;
    for (const { seq, review, shown } of keptUnsaved(this.#owner, MAX_UNSAVED)) this.save(seq, review, shown);
  }

  get #owner() {
    return { run: this.#run, reviewer: this.reviewer };
  }

  /** Number of the last review of an item that was saved from here; 0: none. */
  lastSaved(seq: number): number {
    return this.#known.get(seq) ?? 0;
  }

  /** Whether another review can be taken. */
  get full(): boolean {
    return this.unsaved.value.size >= MAX_UNSAVED;
  }

  /** Saves a review after those before it. */
  save(seq: number, review: NewReview, shown: ItemRow['review']): void {
    const mine: Unsaved = { seq, review, shown, state: 'saving', message: '', newer: null };
    this.#set(mine);
    keepUnsaved(this.#owner, mine);
    this.#last = this.#last.then(() => this.#send(mine));
  }

  /** Resolves when what was taken so far is saved, or failed. */
  settled(): Promise<void> {
    return this.#last;
  }

  /** Tries those again that failed, but for items that somebody has reviewed meanwhile. */
  retry(): void {
    for (const { seq, review, shown, state, newer } of this.unsaved.value.values()) {
      if (state === 'failed' && newer === null) this.save(seq, review, shown);
    }
  }

  /** Saves the review of an item although somebody has reviewed it meanwhile. */
  saveAnyway(seq: number): void {
    const { review, shown, newer } = this.unsaved.value.get(seq) ?? {};
    if (review === undefined || shown === undefined || !newer) return;
    this.#known.set(seq, newer.number);
    this.save(seq, review, shown);
  }

  /** Forgets those that failed: their items keep the reviews that are saved. */
  giveUp(): void {
    for (const { seq, state, newer } of this.unsaved.value.values()) {
      if (state === 'failed' && newer === null) this.#forget(seq);
    }
  }

  /** Forgets the review of an item if it failed, and returns whether it did. */
  giveUpOn(seq: number): boolean {
    if (this.unsaved.value.get(seq)?.state !== 'failed') return false;
    this.#forget(seq);
    return true;
  }

  async #send(mine: Unsaved): Promise<void> {
    try {
      const after = Math.max(mine.review.after ?? 0, this.lastSaved(mine.seq));
      const saved = await postReview(this.#run, mine.seq, { ...mine.review, after });
      for (const copy of saved.copies) this.#known.set(copy, saved.number);
      this.#saved(mine, saved);
    } catch (error) {
      const newer = error instanceof ApiError ? error.review : null;
      // It was saved, but the answer was lost.
      if (newer?.by === this.reviewer && saysTheSame(mine.review, newer)) return this.#saved(mine, newer);
      if (newer !== null) this.#onSaved(newer);
      if (this.unsaved.value.get(mine.seq) !== mine) return;
      this.#set({ ...mine, state: 'failed', message: messageOf(error), newer });
    }
  }

  #saved(mine: Unsaved, saved: Review): void {
    this.#known.set(saved.seq, saved.number);
    this.#onSaved(saved);
    // Unless a later review of the same item waits.
    if (this.unsaved.value.get(mine.seq) === mine) this.#forget(mine.seq);
  }

  #set(unsaved: Unsaved): void {
    this.unsaved.value = new Map(this.unsaved.value).set(unsaved.seq, unsaved);
  }

  #forget(seq: number): void {
    const left = new Map(this.unsaved.value);
    left.delete(seq);
    this.unsaved.value = left;
    dropUnsaved(this.#owner, seq);
  }
}
