import { signal } from '@preact/signals';
import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import type { SavedReview } from '../../../src/dashboard/api/reviews.ts';
import { fetchDetail, apiErrorMessage } from '../review/review-api.ts';

/** Maximum details to keep; the one fetched longest ago is dropped first. */
const MAX_DETAILS = 20;

export type Detail =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ready'; readonly detail: ItemDetail };

/** Records of recently viewed items and the next one. */
export class Details {
  readonly #run: string;
  readonly #fetching = new Map<number, AbortController>();
  readonly #kept = signal<ReadonlyMap<number, Detail>>(new Map());

  constructor(run: string) {
    this.#run = run;
  }

  /** Detail of an item, if it was fetched with `want`. */
  get(seq: number): Detail {
    return this.#kept.value.get(seq) ?? { kind: 'loading' };
  }

  /** Fetches some items, and cancels those requested before. */
  want(seqs: readonly number[]): void {
    for (const [seq, controller] of this.#fetching) {
      if (!seqs.includes(seq)) {
        controller.abort();
        this.#fetching.delete(seq);
      }
    }
    for (const seq of seqs) {
      if (this.#kept.peek().get(seq)?.kind !== 'ready' && !this.#fetching.has(seq)) void this.#fetch(seq);
    }
  }

  /** Fetches an item again. */
  renew(seq: number): void {
    void this.#fetch(seq);
  }

  /** Adds a saved review, unless it is known. */
  enter({ current, ...review }: SavedReview): void {
    const known = this.#kept.peek().get(review.seq);
    if (known?.kind !== 'ready') return;
    const next = known.detail.reviews.length + 1;
    if (review.number < next) return;
    // An earlier one is missing.
    if (review.number > next) return void this.#fetch(review.seq);
    const reviews = [...known.detail.reviews, review];
    this.#keep(review.seq, { kind: 'ready', detail: { ...known.detail, reviews, review: current } });
  }

  clear(): void {
    this.want([]);
    this.#kept.value = new Map();
  }

  async #fetch(seq: number): Promise<void> {
    const controller = new AbortController();
    this.#fetching.set(seq, controller);
    try {
      const { signal } = controller;
      const detail = await fetchDetail(this.#run, seq, signal);
      this.#keep(seq, { kind: 'ready', detail });
    } catch (error) {
      if (!controller.signal.aborted) this.#keep(seq, { kind: 'failed', message: apiErrorMessage(error) });
    } finally {
      if (this.#fetching.get(seq) === controller) this.#fetching.delete(seq);
    }
  }

  #keep(seq: number, detail: Detail): void {
    const kept = new Map(this.#kept.peek());
    kept.delete(seq);
    kept.set(seq, detail);
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_DETAILS) break;
      kept.delete(oldest);
    }
    this.#kept.value = kept;
  }
}
