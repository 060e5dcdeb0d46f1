import { damaged, tooLarge } from './parquet-problem.ts';
import type { Page } from './pages.ts';
import type { Leaf } from './schema.ts';

/** A row may continue on the next page; this many pages are held for it. */
const MAX_PAGES = 64;

/** Takes one value of a row: its levels, and null where the definition level says that there is none. */
export type TakeValue = (repetition: number, definition: number, value: Buffer | null) => void;

/** What a null or an empty list costs. */
const LEVEL_BYTES = 8;

/**
 * The rows of one column in a row group. Holds the pages of the rows that are loaded.
 *
 *     load ──► isLoaded rows ──► peekBytes, then take or skip ──► … ──► load
 */
export class LeafCursor {
  readonly leaf: Leaf;
  readonly #pages: AsyncGenerator<Page, void>;
  readonly #held: Page[] = [];
  #ended = false;
  /** Rows whose first value is loaded, and not yet taken. */
  #begun = 0;
  /** In the first page. */
  #level = 0;
  #value = 0;

  constructor(leaf: Leaf, pages: AsyncGenerator<Page, void>) {
    this.leaf = leaf;
    this.#pages = pages;
  }

  /** Complete rows that are loaded. The last row may go on in the next page. */
  get loaded(): number {
    const mayGoOn = this.leaf.node.repetition > 0 && !this.#ended;
    return mayGoOn ? Math.max(0, this.#begun - 1) : this.#begun;
  }

  /** Loads pages until there is a complete row. ParquetProblem if there are no further rows. */
  async load(): Promise<void> {
    while (this.loaded === 0) {
      if (this.#ended) throw damaged('a column has fewer rows than its row group');
      if (this.#held.length >= MAX_PAGES) throw tooLarge('a row of the Parquet file is on too many pages');
      const next = await this.#pages.next();
      if (next.done === true) this.#ended = true;
      else this.#add(next.value);
    }
  }

  #add(page: Page): void {
    if (page.count === 0) return;
    if (this.#held.length === 0 && page.repetition !== null && page.repetition[0] !== 0) {
      throw damaged('a column begins inside a row');
    }
    this.#held.push(page);
    if (page.repetition === null) this.#begun += page.count;
    else for (const level of page.repetition) if (level === 0) this.#begun++;
  }

  /** Approximate size of the next loaded row. */
  peekBytes(): number {
    let bytes = 0;
    this.#walk((_repetition, _definition, value) => {
      bytes += LEVEL_BYTES + (value?.length ?? 0);
    });
    return bytes;
  }

  /** Takes the next loaded row. */
  take(each: TakeValue): void {
    const { pages, level, value } = this.#walk(each);
    this.#held.splice(0, pages);
    this.#level = level;
    this.#value = value;
    this.#begun--;
  }

  async close(): Promise<void> {
    await this.#pages.return();
  }

  /** Passes over the next row; returns where it ends: pages before, level and value in the page after these. */
  #walk(each: TakeValue): { readonly pages: number; readonly level: number; readonly value: number } {
    const highest = this.leaf.node.definition;
    let level = this.#level;
    let value = this.#value;
    for (let pages = 0; pages < this.#held.length; pages++, level = value = 0) {
      const page = this.#held[pages]!;
      for (; level < page.count; level++) {
        const repetition = page.repetition === null ? 0 : page.repetition[level]!;
        const isFirst = pages === 0 && level === this.#level;
        if (repetition === 0 && !isFirst) return { pages, level, value };
        const definition = page.definition === null ? highest : page.definition[level]!;
        each(repetition, definition, definition === highest ? page.values[value++]! : null);
      }
    }
    return { pages: this.#held.length, level: 0, value: 0 };
  }
}
