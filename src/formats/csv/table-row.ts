import type { Fields } from '../record.ts';
import type { SharedWidth } from './shared-width.ts';

const NO_COLUMN = -1;
const NO_NAMES: readonly string[] = [];

/** The column names of a table and their positions. If names are equal, the first one counts. */
export class TableHeader {
  readonly names: readonly string[];
  /** Number of cells in the header row, or of columns if it lacks a name for the first one. */
  readonly written: number;
  /** Minimum number of cells of a row: those of unnamed columns at the end may be missing. */
  readonly #least: number;
  readonly #exact = new Map<string, number>();
  readonly #folded = new Map<string, number>();
  /** Cache of lookups, since every row is asked for the same few names. */
  readonly #cache = new Map<string, number>();

  /** Names columns by position: `1`, `2` and so on. */
  static byPosition(columns: number): TableHeader {
    return new TableHeader(Array.from({ length: columns }, (_, index) => String(index + 1)));
  }

  /** Fits the names in a header to the width of its rows: drops surplus names, or names further columns by position. */
  static fitted(cells: readonly string[], width: SharedWidth | null): TableHeader {
    if (width === null) return new TableHeader(cells);
    if (width.isNumbered) return new TableHeader(['1', ...cells], width.cells);
    const { names } = TableHeader.byPosition(width.cells);
    return new TableHeader(
      names.map((name, column) => cells[column] ?? name),
      cells.length,
    );
  }

  constructor(cells: readonly string[], written = cells.length) {
    this.written = written;
    this.names = cells.map((cell) => cell.trim());
    this.#least = Math.max(1, this.names.findLastIndex((name) => name !== '') + 1);
    this.names.forEach((name, column) => {
      if (!this.#exact.has(name)) this.#exact.set(name, column);
      const folded = name.toLowerCase();
      if (!this.#folded.has(folded)) this.#folded.set(folded, column);
    });
  }

  /**
   * Whether a row belongs to the table, given its number of cells, and that without empty ones at its end (`filled`).
   */
  fits({ cells, filled }: { readonly cells: number; readonly filled: number }): boolean {
    return filled <= this.names.length && cells >= this.#least;
  }

  column(name: string): number | undefined {
    let column = this.#cache.get(name);
    if (column === undefined) {
      column = this.#exact.get(name) ?? this.#folded.get(name.toLowerCase()) ?? NO_COLUMN;
      this.#cache.set(name, column);
    }
    return column === NO_COLUMN ? undefined : column;
  }
}

/** One row of a table under its header. */
export class TableRow implements Fields {
  readonly #header: TableHeader;
  readonly #cells: readonly string[];

  constructor(header: TableHeader, cells: readonly string[]) {
    this.#header = header;
    this.#cells = cells;
  }

  get(name: string): string | undefined {
    const column = this.#header.column(name);
    return column === undefined ? undefined : this.#cells[column];
  }

  names(): readonly string[] {
    return this.#header.names;
  }

  at(position: number): string | undefined {
    return this.#cells[position];
  }

  positionOf(name: string): number | undefined {
    return this.#header.column(name);
  }

  nestedNames(): readonly string[] {
    return NO_NAMES;
  }
}
