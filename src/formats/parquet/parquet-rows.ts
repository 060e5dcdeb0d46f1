import { setImmediate } from 'node:timers/promises';
import { itemError } from '../../domain/item-error.ts';
import { TableHeader } from '../csv/table-row.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type SourceRecord } from '../record.ts';
import { BadValue, RowAssembly } from './assemble.ts';
import { ROW_BYTES } from './expansion.ts';
import type { Footer, RowGroup } from './footer.ts';
import { LeafCursor } from './leaf-cursor.ts';
import { readPages, type PageSource } from './pages.ts';
import { columnOf, ParquetRow } from './parquet-row.ts';
import type { Leaf, SchemaNode } from './schema.ts';

export interface RowOptions extends PageSource {
  /** Columns, by name or path, that are read although they hold no text. */
  readonly wanted: readonly string[];
  /** Max bytes of one row. A larger row is a bad record. */
  readonly recordBytes: number;
  /** The first row that is wanted; default: 1. Row groups that end before it are not read. */
  readonly fromRow?: number | undefined;
}

/** Max rows per batch. */
const BATCH_ROWS = 512;

/**
 * The rows of a file in batches, as records that begin on no line. Holds a page per column that is read. Throws
 * ParquetProblem where the file cannot be read on, after the rows before.
 */
export async function* readRows(footer: Footer, options: RowOptions): AsyncGenerator<RecordBatch, void> {
  const { columns, leaves } = footer.schema;
  const header = headerOf(columns);
  const wanted = new Set(options.wanted.map((name) => columnOf(header, name)));
  const isRead = columns.map((column, position) => wanted.has(position) || holdsText(column));
  const read = leaves.filter(({ path }) => isRead[columns.indexOf(path[0]!)]);
  let row = 0;
  for (const group of footer.rowGroups) {
    if (row + group.rows < (options.fromRow ?? 1)) {
      row += group.rows;
      continue;
    }
    const cursors = read.map(
      (leaf) => new LeafCursor(leaf, readPages(group.chunks[leaf.index]!, leaf.node, options)),
    );
    try {
      for await (const records of readGroup(group, {
        cursors,
        columns,
        header,
        firstRow: row + 1,
        options,
      })) {
        row += records.length;
        yield records;
      }
    } finally {
      for (const cursor of cursors) await cursor.close();
    }
  }
}

export function headerOf(columns: readonly SchemaNode[]): TableHeader {
  return new TableHeader(columns.map(({ name }) => name));
}

/** Names of the columns, and paths of the texts inside them. */
export function columnNames(columns: readonly SchemaNode[], leaves: readonly Leaf[]): readonly string[] {
  const nested = leaves.filter(({ path, node }) => path.length > 1 && holdsText(node));
  return [...columns.map(({ name }) => name), ...nested.map(pathOf)];
}

/** Names from the column to the leaf, without the groups that only make up lists and maps. */
function pathOf({ path }: Leaf): string {
  const names: string[] = [];
  path.forEach((node, depth) => {
    const above = path[depth - 1];
    const isInList =
      above?.shape === 'list' || (path[depth - 2]?.shape === 'list' && above?.children.length === 1);
    if (!isInList) names.push(node.name);
  });
  return names.join('.');
}

/** Whether a column, or one inside it, may hold text or images. */
function holdsText(node: SchemaNode): boolean {
  return node.shape === 'value'
    ? node.element.type === 'BYTE_ARRAY' && !isDecimal(node)
    : node.children.some(holdsText);
}

function isDecimal({ element }: SchemaNode): boolean {
  return element.converted_type === 'DECIMAL' || element.logical_type?.type === 'DECIMAL';
}

interface GroupReading {
  readonly cursors: readonly LeafCursor[];
  readonly columns: readonly SchemaNode[];
  readonly header: TableHeader;
  readonly firstRow: number;
  readonly options: RowOptions;
}

async function* readGroup(
  { rows }: RowGroup,
  { cursors, columns, header, firstRow, options }: GroupReading,
): AsyncGenerator<RecordBatch, void> {
  for (let done = 0; done < rows;) {
    options.signal.throwIfAborted();
    for (const cursor of cursors) await cursor.load();
    const loaded = Math.min(BATCH_ROWS, rows - done, ...cursors.map((cursor) => cursor.loaded));
    const records: SourceRecord[] = [];
    for (let bytes = 0; records.length < loaded && bytes < BATCH_BYTES;) {
      const size = cursors.reduce((sum, cursor) => sum + cursor.peekBytes(), 0);
      options.expansion.spend(size + ROW_BYTES);
      bytes += size + ROW_BYTES;
      records.push(readRow(firstRow + done + records.length, size, { cursors, columns, header, options }));
    }
    done += records.length;
    yield records;
    await setImmediate();
  }
}

function readRow(
  row: number,
  size: number,
  { cursors, columns, header, options }: Omit<GroupReading, 'firstRow'>,
): SourceRecord {
  const isTooLarge = size > options.recordBytes;
  const assembly = new RowAssembly(columns);
  for (const cursor of cursors) cursor.take(isTooLarge ? () => {} : assembly.taker(cursor.leaf));
  if (isTooLarge) {
    const error = itemError('ITEM_TOO_LARGE', `the row has ${size} bytes of at most ${options.recordBytes}`);
    return badRecord(row, null, error);
  }
  try {
    const values = columns.map((_, position) => assembly.value(position));
    return { row, line: null, content: new ParquetRow(header, values), error: null };
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    return badRecord(row, null, error.error);
  }
}
