import { signal } from '@preact/signals';
import type { ItemFilter, ItemRow } from '../../../../src/dashboard/api/items.ts';
import type { NewReviews, Review } from '../../../../src/dashboard/api/reviews.ts';
import type { Decision } from '../../../../src/domain/outcome.ts';
import { lookAt } from '../../item/reveals.ts';
import { fetchItems, messageOf, postReviews } from '../review-api.ts';

/** Items that can be decided at once. */
export const MAX_AT_ONCE = 5000;

/** As the API gives and takes them. */
const PAGE = 500;
const MAX_REVIEWS = 200;

/** What a bulk decision decides: one thing for all, or what the run decided on each. */
export type BulkChoice = Decision | 'agree';

/** Which items a bulk decision would be about, in corpus order. */
export interface BulkItems {
  readonly rows: readonly ItemRow[];
  /** Of the items that were looked through, restricted ones: each takes a decision of its own. */
  readonly restricted: number;
  /** Open items beyond those. */
  readonly beyond: number;
}

/** The open items that pass a filter. Items with a review are left as they are. */
export async function bulkItems(run: string, filter: ItemFilter, signal: AbortSignal): Promise<BulkItems> {
  // What others decide meanwhile moves the items of later pages: some may be missing, and none is there twice.
  const found = new Map<number, ItemRow>();
  let total = 0;
  if (filter.review === 'any' || filter.review === 'open') {
    const open: ItemFilter = { ...filter, review: 'open' };
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

/** What a choice decides on an item; null: nothing, as it was not judged. */
export const chosenFor = (row: ItemRow, choice: BulkChoice): Decision | null =>
  choice === 'agree' ? row.decision : choice;

type Asked = NewReviews['items'][number];

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
      /** Items that were left alone, because they were reviewed or restricted meanwhile. */
      readonly left: number;
      /** Why it ended early; null: it did not. */
      readonly problem: string | null;
    };

/** A decision on many items. It goes on when its page is left, and can be taken back until the next one. */
export class Bulk {
  readonly #run: string;
  readonly #onSaved: (reviews: readonly Review[]) => void;
  readonly #onEnd: () => void;
  /** What the last one has saved. */
  #saved: Review[] = [];

  readonly state = signal<BulkState>({ kind: 'none' });

  constructor(run: string, on: { saved: (reviews: readonly Review[]) => void; end: () => void }) {
    this.#run = run;
    this.#onSaved = on.saved;
    this.#onEnd = on.end;
  }

  async decide(rows: readonly ItemRow[], choice: BulkChoice, note: string): Promise<void> {
    const items = rows.flatMap((row): Asked[] => {
      const { seq, reviews: after } = row;
      const decision = chosenFor(row, choice);
      return decision === null ? [] : [{ seq, decision, seen: lookAt(this.#run, seq) === true, after }];
    });
    await this.#save(items, note, false);
  }

  /** Makes the items open again, but for those that somebody has reviewed since. */
  async undo(): Promise<void> {
    const items = this.#saved.map(({ seq, number: after }): Asked => ({ seq, decision: null, after }));
    await this.#save(items, '', true);
  }

  dismiss(): void {
    this.state.value = { kind: 'none' };
  }

  async #save(items: readonly Asked[], note: string, undoing: boolean): Promise<void> {
    if (this.state.value.kind === 'saving') return;
    const saved: Review[] = [];
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
      problem = messageOf(error);
    } finally {
      this.#saved = saved;
      this.state.value = { kind: undoing ? 'undone' : 'saved', items: saved.length, left, problem };
      this.#onEnd();
    }
  }
}
