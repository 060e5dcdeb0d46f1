import { batch, computed, signal } from '@preact/signals';
import type { ItemFilter, ItemPage, ItemRow } from '../../../src/dashboard/api/items.ts';
import type { SavedReview } from '../../../src/dashboard/api/reviews.ts';
import { ItemPages, PAGE_ROWS } from './item-pages.ts';
import { NO_FILTER, loadPlace, savePlace, type ItemSort } from './place.ts';
import { fetchItems, apiErrorMessage } from './review-api.ts';

/** `loading` is also the state while an uncached page is fetched. */
export type ListState =
  | { readonly kind: 'loading' }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'ready' };

const LOADING: ListState = { kind: 'loading' };
const READY: ListState = { kind: 'ready' };

/** The page after the selected one is fetched when this many rows of the current one are left. */
const AHEAD_ROWS = 20;

/** The items of a run, filtered, ordered and paged, with one item selected. */
export class ReviewList {
  readonly run: string;
  readonly #pages = new ItemPages();
  /** Counts the changes to `#pages`. */
  readonly #changes = signal(0);
  /**
   * Positions of items that no longer pass the filter, or moved behind the open ones, because they were reviewed. They
   * stay in place until the list is reloaded, but the server no longer lists them.
   */
  readonly #gone = new Set<number>();
  readonly #fetching = new Map<number, AbortController>();
  readonly #renewing = new AbortController();

  readonly filter = signal<ItemFilter>(NO_FILTER);
  readonly sort = signal<ItemSort>('severity');
  /** Position of the selected row, from 0. */
  readonly position = signal(0);
  /** Null until the first page has loaded. */
  readonly total = signal<number | null>(null);
  readonly state = signal<ListState>(LOADING);

  readonly page = computed(() => Math.floor(this.position.value / PAGE_ROWS));

  /** Rows of the selected page; undefined until they have loaded. */
  readonly rows = computed<readonly ItemRow[] | undefined>(() => {
    void this.#changes.value;
    return this.#pages.rows(this.page.value);
  });

  /** The selected row. */
  readonly row = computed<ItemRow | undefined>(() => this.rows.value?.[this.position.value % PAGE_ROWS]);

  /** The row after the selected one, if known. */
  readonly nextRow = computed<ItemRow | undefined>(() => {
    void this.#changes.value;
    return this.#pages.at(this.position.value + 1);
  });

  constructor(run: string) {
    this.run = run;
    const place = loadPlace(run);
    batch(() => {
      this.filter.value = place.filter;
      this.sort.value = place.sort;
      this.position.value = place.position;
    });
    this.#fetch(this.page.value);
  }

  /** Changes the filter or the order, and starts from the first item. */
  ask(change: { readonly filter?: ItemFilter; readonly sort?: ItemSort }): void {
    batch(() => {
      if (change.filter !== undefined) this.filter.value = change.filter;
      if (change.sort !== undefined) this.sort.value = change.sort;
      this.position.value = 0;
    });
    this.refresh();
  }

  /** Reloads the list. */
  refresh(): void {
    this.#abort();
    this.#pages.clear();
    this.#gone.clear();
    batch(() => {
      this.#changes.value++;
      this.total.value = null;
      this.state.value = LOADING;
    });
    this.#save();
    this.#fetch(this.page.value);
  }

  /** Selects the row at a position, or the nearest one. Returns whether the selection changed. */
  select(position: number): boolean {
    const last = (this.total.value ?? 0) - 1;
    const next = Math.max(0, Math.min(position, last));
    if (next === this.position.value) return false;
    this.position.value = next;
    this.#save();
    this.#fetchAround();
    return true;
  }

  /** Adds a saved review. */
  enter({ seq, number, current }: SavedReview): void {
    this.#enter(seq, current, number);
  }

  #enter(seq: number, review: ItemRow['review'], reviews: number): void {
    this.#pages.enter(seq, review, reviews);
    const position = this.#pages.positionOf(seq);
    if (position !== undefined) {
      if (this.#stays(review)) this.#gone.delete(position);
      else this.#gone.add(position);
    }
    this.#changes.value++;
  }

  /** Updates the rows of the page with their current reviews; returns the seqs of changed rows. */
  async renew(limit: number): Promise<readonly number[]> {
    const shown = this.rows.peek() ?? [];
    const filter = { ...NO_FILTER, seqs: shown.map(({ seq }) => seq) };
    const { signal } = this.#renewing;
    // The page polls again soon, and shows if the server cannot be reached.
    const answer = await fetchItems(this.run, { filter, sort: 'corpus', limit }, signal).catch(() => null);
    const before = new Map(shown.map(({ seq, reviews }) => [seq, reviews]));
    const changed = answer?.rows.filter(({ seq, reviews }) => reviews > before.get(seq)!) ?? [];
    batch(() => changed.forEach(({ seq, review, reviews }) => this.#enter(seq, review, reviews)));
    return changed.map(({ seq }) => seq);
  }

  /** Aborts pending requests. */
  stop(): void {
    this.#renewing.abort();
    this.#abort();
  }

  /** Whether an item with this review keeps its place when the list is reloaded. */
  #stays(review: ItemRow['review']): boolean {
    if (this.sort.value === 'open' && !isOpen(review)) return false;
    return passes(review, this.filter.value.review);
  }

  #save(): void {
    const { filter, sort, position } = this;
    savePlace(this.run, { filter: filter.value, sort: sort.value, position: position.value });
  }

  #abort(): void {
    for (const controller of this.#fetching.values()) controller.abort();
    this.#fetching.clear();
  }

  #fetchAround(): void {
    const page = this.page.value;
    if (!this.#pages.has(page)) this.#fetch(page);
    const next = Math.floor((this.position.value + AHEAD_ROWS) / PAGE_ROWS);
    if (next > page && next * PAGE_ROWS < (this.total.value ?? 0) && !this.#pages.has(next))
      this.#fetch(next);
  }

  #fetch(page: number): void {
    if (this.#fetching.has(page)) return;
    // Only answers for pages around the selected row are useful.
    for (const [other, controller] of this.#fetching) {
      if (Math.abs(other - this.page.value) > 1) {
        controller.abort();
        this.#fetching.delete(other);
      }
    }
    const controller = new AbortController();
    this.#fetching.set(page, controller);
    if (page === this.page.value) this.state.value = LOADING;
    void this.#load(page, controller);
  }

  async #load(page: number, controller: AbortController): Promise<void> {
    const { signal } = controller;
    try {
      const first = page * PAGE_ROWS;
      const gone = [...this.#gone].filter((position) => position < first).length;
      const range = { offset: first - gone, limit: PAGE_ROWS };
      const query = { filter: this.filter.value, sort: this.sort.value, ...range };
      this.#arrived(page, await fetchItems(this.run, query, signal));
    } catch (error) {
      if (signal.aborted) return;
      if (page === this.page.value) this.state.value = { kind: 'failed', message: apiErrorMessage(error) };
    } finally {
      if (this.#fetching.get(page) === controller) this.#fetching.delete(page);
    }
  }

  #arrived(page: number, { rows, total }: ItemPage): void {
    this.#pages.keep(page, rows);
    batch(() => {
      this.#changes.value++;
      // In the order by review, they are at the end instead.
      this.total.value = total + (this.filter.value.review === 'any' ? 0 : this.#gone.size);
      if (page === this.page.value) this.state.value = READY;
    });
    // The saved place may now be beyond the end of the filtered list.
    const all = this.total.value ?? 0;
    if (this.position.value >= all && all > 0) this.select(all - 1);
  }
}

function isOpen(review: ItemRow['review']): boolean {
  return review === null || review.reopened;
}

function passes(review: ItemRow['review'], wanted: ItemFilter['review']): boolean {
  switch (wanted) {
    case 'any':
      return true;
    case 'open':
      return isOpen(review);
    case 'reopened':
      return review?.reopened === true;
    case 'agreed':
      return !isOpen(review) && review!.agrees;
    case 'overturned':
      return !isOpen(review) && !review!.agrees;
  }
}
