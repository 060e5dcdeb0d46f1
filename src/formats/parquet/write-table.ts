import type { FileHandle } from 'node:fs/promises';
import type { FileMetaData, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writeMetadata } from 'hyparquet-writer/src/metadata.js';
import { Expansion, ROW_BYTES } from './expansion.ts';
import { readFooter } from './footer.ts';
import { LeafCursor } from './leaf-cursor.ts';
import { readPages, type PageSource } from './pages.ts';
import type { Leaf } from './schema.ts';
import { ChunkWriter, type ChunkColumn, type WriteBytes } from './write-chunk.ts';

/** What becomes of a row: it is left out, or written with this text in the added column. */
export type RowChoice = 'left-out' | { readonly added: string | null };

export interface TableCopy {
  /** The open Parquet file, and its size. */
  readonly handle: FileHandle;
  readonly bytes: number;
  /** Name of a column of texts to add; null: none is added. */
  readonly addedColumn: string | null;
  /**
   * Called for all rows in order, some at a time: `count` rows from the 1-based row `first` on. Returns the choice for
   * each.
   */
  choose(first: number, count: number): Promise<readonly RowChoice[]>;
  /** Appends bytes to the file to write. */
  readonly write: WriteBytes;
  readonly signal: AbortSignal;
}

/** Max rows of a row group that is written. */
const GROUP_ROWS = 20_000;

const MAGIC = Buffer.from('PAR1');
/** Metadata that describe the columns to one library, and are wrong once a column is added. */
const SCHEMA_KEYS: ReadonlySet<string> = new Set(['ARROW:schema', 'pandas', 'huggingface']);

/**
 * Writes chosen rows of a Parquet file to another one with the same schema and the same values, nested ones included, and
 * optionally a column of texts. Holds a page per column. Returns the number of rows written. Throws ParquetProblem if the
 * input cannot be read to its end, the errors of `write` and `choose`, and the reason of an abort.
 */
export async function copyTable(copy: TableCopy): Promise<number> {
  const { metadata, schema, rowGroups } = await readFooter(copy.handle, copy.bytes);
  const source = { handle: copy.handle, expansion: new Expansion(copy.bytes), signal: copy.signal };
  const written = new Output(copy.write);
  await written.append(MAGIC);
  let row = 1;
  for (const group of rowGroups) {
    const cursors = schema.leaves.map(
      (leaf) => new LeafCursor(leaf, readPages(group.chunks[leaf.index]!, leaf.node, source)),
    );
    try {
      for (let left = group.rows; left > 0;) {
        const count = Math.min(left, GROUP_ROWS);
        const choices = await copy.choose(row, count);
        await copyGroup(cursors, choices, copy.addedColumn, written, source);
        row += count;
        left -= count;
      }
    } finally {
      for (const cursor of cursors) await cursor.close();
    }
  }
  await written.end(metadataWith(metadata, copy.addedColumn));
  return written.rows;
}

/** The file that is written. */
class Output {
  readonly #write: WriteBytes;
  readonly #groups: FileMetaData['row_groups'] = [];
  offset = 0;
  rows = 0;

  constructor(write: WriteBytes) {
    this.#write = write;
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#write(bytes);
    this.offset += bytes.length;
  }

  chunk(column: ChunkColumn): ChunkWriter {
    return new ChunkWriter(column, this.offset, (bytes) => this.append(bytes));
  }

  endGroup(rows: number, columns: FileMetaData['row_groups'][number]['columns']): void {
    const bytes = columns.reduce((sum, { meta_data: meta }) => sum + meta!.total_uncompressed_size, 0n);
    this.#groups.push({ columns, total_byte_size: bytes, num_rows: BigInt(rows) });
    this.rows += rows;
  }

  async end(metadata: FileMetaData): Promise<void> {
    const footer = new ByteWriter();
    writeMetadata(footer, { ...metadata, num_rows: BigInt(this.rows), row_groups: this.#groups });
    await this.append(footer.getBytes());
    await this.append(MAGIC);
  }
}

async function copyGroup(
  cursors: readonly LeafCursor[],
  choices: readonly RowChoice[],
  addedColumn: string | null,
  output: Output,
  source: PageSource,
): Promise<void> {
  const rows = choices.filter((choice) => choice !== 'left-out').length;
  const chunks: FileMetaData['row_groups'][number]['columns'] = [];
  for (const cursor of cursors) {
    const chunk = output.chunk(columnOf(cursor.leaf));
    for (const choice of choices) {
      source.signal.throwIfAborted();
      await cursor.load();
      source.expansion.spend(cursor.peekBytes() + ROW_BYTES);
      if (choice === 'left-out') cursor.take(() => {});
      else {
        cursor.take((repetition, definition, value) => chunk.add(repetition, definition, value));
        await chunk.endRow();
      }
    }
    if (rows > 0) chunks.push(await chunk.end());
  }
  if (rows === 0) return;
  if (addedColumn !== null) {
    const chunk = output.chunk({
      element: textColumn(addedColumn),
      path: [addedColumn],
      repetition: 0,
      definition: 1,
    });
    for (const choice of choices) {
      if (choice === 'left-out') continue;
      chunk.add(0, choice.added === null ? 0 : 1, choice.added === null ? null : Buffer.from(choice.added));
      await chunk.endRow();
    }
    chunks.push(await chunk.end());
  }
  output.endGroup(rows, chunks);
}

function columnOf({ node, path }: Leaf): ChunkColumn {
  const { element, repetition, definition } = node;
  return { element, path: path.map(({ name }) => name), repetition, definition };
}

function textColumn(name: string): SchemaElement {
  return {
    name,
    type: 'BYTE_ARRAY',
    repetition_type: 'OPTIONAL',
    converted_type: 'UTF8',
    logical_type: { type: 'STRING' },
  };
}

function metadataWith(metadata: FileMetaData, addedColumn: string | null): FileMetaData {
  if (addedColumn === null) return metadata;
  const [root, ...columns] = metadata.schema as [SchemaElement, ...SchemaElement[]];
  const schema = [{ ...root, num_children: root.num_children! + 1 }, ...columns, textColumn(addedColumn)];
  const kept = metadata.key_value_metadata?.filter(({ key }) => !SCHEMA_KEYS.has(key));
  return { ...metadata, schema, ...(kept !== undefined && { key_value_metadata: kept }) };
}
