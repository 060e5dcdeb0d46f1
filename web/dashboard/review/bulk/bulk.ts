import { signal } from '@preact/signals';
import type { ItemFilter, ItemRow } from '../../../../src/dashboard/api/items.ts';
import type { NewReviews, SavedReview } from '../../../../src/dashboard/api/reviews.ts';
import type { Decision } from '../../../../src/domain/outcome.ts';
import { lookAt } from '../../item/reveals.ts';
import { fetchItems, apiErrorMessage, postReviews } from '../review-api.ts';

/** Maximum items to decide at once. */
export const MAX_AT_ONCE = 5000;

/** Limits of the API. */
const PAGE = 500;
const MAX_REVIEWS = 200;

/** One decision for all items, or the decision of the run for each. */
export type BulkChoice = Decision | 'agree';

/** Items of a bulk decision, in corpus order. */
export interface BulkItems {
  readonly rows: readonly ItemRow[];
  /** Number of restricted items among the loaded ones: each needs a separate decision. */
  readonly restricted: number;
  /** Number of open items beyond the loaded ones. */
  readonly beyond: number;
}

/** Loads the open items that pass a filter. Items with a review are left unchanged. */
export async function bulkItems(run: string, filter: ItemFilter, signal: AbortSignal): Promise<BulkItems> {
  // Other reviewers' decisions may move items between pages: some may be missing, none appears twice.
  const found = new Map<number, ItemRow>();
  let total = 0;
  const { review } = filter;
  if (review !== 'agreed' && review !== 'overturned') {
    const open: ItemFilter = { ...filter, review: review === 'any' ? 'open' : review };
    for (let offset = 0; offset === 0 || offset < Math.min(total, MAX_AT_ONCE); offset += PAGE) {
      const query = { filter: open, sort: 'corpus', offset, limit: PAGE } as const;
      const page = await fetchItems(run, query, signal);
      total = page.total;
      for (const row of page.rows) found.set(row.seq, row);
    }
  }
  const all = [...found.values()];
  const rows = all.filter(({ restricted }) => !restricted);
  return { rows, restricted: all.length - rows.length, beyond: Math.max(0, total - all.length) };
}

/** The decision of a choice on an item; null if there is none because the item was not judged. */
export const chosenFor = (row: ItemRow, choice: BulkChoice): Decision | null =>
  choice === 'agree' ? row.decision : choice;

type ReviewRequest = NewReviews['items'][number];

/**
 *   none ── decide ──► saving ──► saved ── undo ──► saving ──► undone
 *     ▲                                │                         │
 *     └──────────── dismissed ◄────────┴─────────────────────────┘
 */
export type BulkState =
  | { readonly kind: 'none' }
  | { readonly kind: 'saving'; readonly undoing: boolean; readonly done: number; readonly of: number }
  | {
      readonly kind: 'saved' | 'undone';
      readonly items: number;
      /** Items left unchanged because they were reviewed or restricted in the meantime. */
      readonly left: number;
      /** Why it ended early; null if it did not. */
      readonly problem: string | null;
    };

/** A decision on many items. It continues when its page is left, and can be undone until the next one. */
export class Bulk {
  readonly #run: string;
  readonly #onSaved: (reviews: readonly SavedReview[]) => void;
  readonly #onEnd: () => void;
  /** Reviews saved by the last bulk decision. */
  #saved: SavedReview[] = [];

  readonly state = signal<BulkState>({ kind: 'none' });

  constructor(run: string, on: { saved: (reviews: readonly SavedReview[]) => void; end: () => void }) {
    this.#run = run;
    this.#onSaved = on.saved;
    this.#onEnd = on.end;
  }

  async decide(rows: readonly ItemRow[], choice: BulkChoice, note: string): Promise<void> {
    const items = rows.flatMap((row): ReviewRequest[] => {
      const { seq, reviews: after } = row;
      const decision = chosenFor(row, choice);
      return decision === null ? [] : [{ seq, decision, seen: lookAt(this.#run, seq) === true, after }];
    });
    await this.#save(items, note, false);
  }

  /** Reopens the items, except those that somebody has reviewed since. */
  async undo(): Promise<void> {
    const items = this.#saved.map(({ seq, number: after }): ReviewRequest => ({
      seq,
      decision: null,
      after,
    }));
    await this.#save(items, '', true);
  }

  dismiss(): void {
    this.state.value = { kind: 'none' };
  }

  async #save(items: readonly ReviewRequest[], note: string, undoing: boolean): Promise<void> {
    if (this.state.value.kind === 'saving') return;
    const saved: SavedReview[] = [];
    let left = 0;
    let problem: string | null = null;
    try {
      while (saved.length + left < items.length) {
        const done = saved.length + left;
        this.state.value = { kind: 'saving', undoing, done, of: items.length };
        const answer = await postReviews(this.#run, { items: items.slice(done, done + MAX_REVIEWS), note });
        saved.push(...answer.saved);
        left += answer.left.length;
        this.#onSaved(answer.saved);
      }
    } catch (error) {
      problem = apiErrorMessage(error);
    } finally {
      this.#saved = saved;
      this.state.value = { kind: undoing ? 'undone' : 'saved', items: saved.length, left, problem };
      this.#onEnd();
    }
  }
}
