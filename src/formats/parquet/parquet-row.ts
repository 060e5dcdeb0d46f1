import type { TableHeader } from '../csv/table-row.ts';
import { isReadonlyArray, type Fields } from '../record.ts';

const NO_NAMES: readonly string[] = [];

/** One row: the values of its columns as in JSON. Nested values are also found by path: `data.text`. */
export class ParquetRow implements Fields {
  readonly #header: TableHeader;
  readonly #values: readonly unknown[];

  constructor(header: TableHeader, values: readonly unknown[]) {
    this.#header = header;
    this.#values = values;
  }

  get(name: string): unknown {
    const column = this.#header.column(name);
    if (column !== undefined) return this.#values[column];
    const nested = nestedColumn(this.#header, name);
    return nested === null ? undefined : valueAt(this.#values[nested[0]], nested[1]);
  }

  names(): readonly string[] {
    return this.#header.names;
  }

  at(position: number): unknown {
    return this.#values[position];
  }

  positionOf(name: string): number | undefined {
    return columnOf(this.#header, name);
  }

  nestedNames(): readonly string[] {
    const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;
    if (!this.#values.some(isNested)) return NO_NAMES;
    return this.names().filter((_, position) => isNested(this.#values[position]));
  }
}

/** The column to which a name or a path leads; undefined if there is none. */
export function columnOf(header: TableHeader, name: string): number | undefined {
  return header.column(name) ?? nestedColumn(header, name)?.[0];
}

/** The column with which a path begins, and the names after it; null if there is none. */
function nestedColumn(header: TableHeader, path: string): readonly [number, readonly string[]] | null {
  if (!path.includes('.')) return null;
  const names = path.split('.');
  for (let end = names.length - 1; end > 0; end--) {
    const position = header.column(names.slice(0, end).join('.'));
    if (position !== undefined) return [position, names.slice(end)];
  }
  return null;
}

/** The value at a path of names; for a list, the values of its elements. */
function valueAt(value: unknown, names: readonly string[]): unknown {
  if (isReadonlyArray(value)) {
    const found = value.map((element) => valueAt(element, names)).filter((each) => each !== undefined);
    return found.length === 0 ? undefined : found.flat();
  }
  const [name, ...rest] = names;
  if (name === undefined) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Readonly<Record<string, unknown>>;
  const spelled = Object.hasOwn(fields, name)
    ? name
    : Object.keys(fields).find((each) => each.toLowerCase() === name.toLowerCase());
  return spelled === undefined ? undefined : valueAt(fields[spelled], rest);
}
