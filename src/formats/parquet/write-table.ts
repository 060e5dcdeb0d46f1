import type { FileHandle } from 'node:fs/promises';
import { openUnnamedFile } from '../../files/unnamed-file.ts';
import { BYTES_FD, copied, opened, TABLE_FD } from './child/messages.ts';
import { checkEnd } from './footer.ts';
import { copyTextsAsBytes, type OpenTable } from './lend-process.ts';
import { TableProcess, TextsNotUtf8 } from './table-process.ts';

/** What becomes of a row: it is left out, or written with this text in the added column. */
export type RowChoice = 'left-out' | { readonly added: string | null };

export interface TableCopy {
  readonly table: OpenTable;
  /** Name of a column of texts to add; null: none is added. */
  readonly addedColumn: string | null;
  /** The choices for the rows, in order. */
  readonly choices: AsyncIterable<readonly RowChoice[]>;
  /** Appends bytes to the file to write. */
  readonly write: (bytes: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Choices that are written at once, in characters. */
const PIECE_CHARS = 256 * 1024;
const PIECE_BYTES = 256 * 1024;

const MAX_OPENED_BYTES = 64 * 1024 * 1024;
/** A copy may take this, and this for each megabyte of the file. */
const [COPY_MS, COPY_MS_PER_MB] = [120_000, 2000] as const;

/**
 * Writes chosen rows of a Parquet file to another one with the same columns and values, nested ones included, and
 * optionally a column of texts. A column with a text that is not UTF-8 in a chosen row becomes one of bytes. Returns the number of rows written. Throws ParquetProblem if the input cannot be read to
 * its end, the errors of `write` and `choices`, and the reason of an abort.
 */
export async function copyTable({ table, addedColumn, choices, write, signal }: TableCopy): Promise<number> {
  await checkEnd(table.handle, table.bytes);
  const chosen = await openUnnamedFile();
  const output = await openUnnamedFile();
  const bytes = await openUnnamedFile();
  try {
    await writeChoices(choices, chosen);
    const copying = { table, addedColumn, signal };
    let rows: number;
    try {
      rows = await copyWith([table.handle.fd, output.fd, chosen.fd], copying);
    } catch (error) {
      if (!(error instanceof TextsNotUtf8)) throw error;
      await output.truncate(0);
      await copyTextsAsBytes(table, bytes, signal);
      rows = await copyWith([table.handle.fd, output.fd, chosen.fd, bytes.fd], copying);
    }
    for await (const piece of output.createReadStream({
      ...{ start: 0, autoClose: false, highWaterMark: PIECE_BYTES, signal },
    })) {
      await write(piece as Buffer);
    }
    return rows;
  } finally {
    await chosen.close();
    await output.close();
    await bytes.close();
  }
}

/** `descriptors`: of the table, the copy and the choices; then of the table with texts as bytes, if it is to be used. */
async function copyWith(
  descriptors: readonly number[],
  { table, addedColumn, signal }: Pick<TableCopy, 'table' | 'addedColumn' | 'signal'>,
): Promise<number> {
  const process = new TableProcess(descriptors);
  try {
    const textsAreBytes = descriptors.length > BYTES_FD - TABLE_FD;
    await process.ask({ op: 'open' }, opened, { maxBytes: MAX_OPENED_BYTES, signal });
    const processorMs = COPY_MS + (COPY_MS_PER_MB * table.bytes) / 1024 / 1024;
    const { rows } = await process.ask({ op: 'copy', addedColumn, textsAreBytes }, copied, {
      ...{ maxBytes: MAX_OPENED_BYTES, signal, processorMs },
    });
    return rows;
  } finally {
    await process.kill();
  }
}

/** A table with a row for each row: whether it is kept, and what is added to it. */
async function writeChoices(choices: AsyncIterable<readonly RowChoice[]>, to: FileHandle): Promise<void> {
  let piece = '';
  for await (const batch of choices) {
    for (const choice of batch) {
      const isKept = choice !== 'left-out';
      const added = isKept && choice.added !== null ? `"${choice.added.replaceAll('"', '""')}"` : '';
      piece += `${isKept ? '1' : '0'},${added}\n`;
    }
    if (piece.length < PIECE_CHARS) continue;
    await to.appendFile(piece);
    piece = '';
  }
  await to.appendFile(piece);
}
