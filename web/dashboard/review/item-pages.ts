import type { ItemRow } from '../../../src/dashboard/api/items.ts';

/** Rows of a page of the review list. */
export const PAGE_ROWS = 100;

/** Maximum pages to keep; the least recently used one is dropped first. */
const MAX_PAGES = 8;

/** Recently fetched pages of a list. */
export class ItemPages {
  readonly #pages = new Map<number, readonly ItemRow[]>();

  /** Rows of a page; undefined if they must be fetched. */
  rows(page: number): readonly ItemRow[] | undefined {
    const rows = this.#pages.get(page);
    if (rows !== undefined) {
      this.#pages.delete(page);
      this.#pages.set(page, rows);
    }
    return rows;
  }

  has(page: number): boolean {
    return this.#pages.has(page);
  }

  /** The row at a position of the list. */
  at(position: number): ItemRow | undefined {
    return this.#pages.get(Math.floor(position / PAGE_ROWS))?.[position % PAGE_ROWS];
  }

  /** Position of an item in the list; undefined if its page is not cached. */
  positionOf(seq: number): number | undefined {
    for (const [page, rows] of this.#pages) {
      const index = rows.findIndex((row) => row.seq === seq);
      if (index >= 0) return page * PAGE_ROWS + index;
    }
    return undefined;
  }

  keep(page: number, rows: readonly ItemRow[]): void {
    this.#pages.delete(page);
    this.#pages.set(page, rows);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MAX_PAGES) return;
      this.#pages.delete(oldest);
    }
  }

  /** Adds a review to the row of its item, if cached; `reviews` is the item's number of reviews including it. */
  enter(seq: number, review: ItemRow['review'], reviews: number): void {
    for (const [page, rows] of this.#pages) {
      if (!rows.some((row) => row.seq === seq)) continue;
      this.#pages.set(
        page,
        rows.map((row) => (row.seq === seq ? { ...row, review, reviews } : row)),
      );
    }
  }

  clear(): void {
    this.#pages.clear();
  }
}
