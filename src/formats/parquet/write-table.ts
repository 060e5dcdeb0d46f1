import type { FileHandle } from 'node:fs/promises';
import { openUnnamedFile } from '../../files/unnamed-file.ts';
import { copied, opened } from './child/messages.ts';
import { type OpenTable, TableProcess } from './table-process.ts';

/** A row is omitted, or written with this text in the added column. */
export type RowChoice = 'left-out' | { readonly added: string | null };

export interface TableCopy {
  readonly table: OpenTable;
  /** Name of the text column to add, or null. */
  readonly addedColumn: string | null;
  /** The choices for the rows, in order. */
  readonly choices: AsyncIterable<readonly RowChoice[]>;
  /** Appends bytes to the file to write. */
  readonly write: (bytes: Buffer) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Maximum characters of choices to write at a time. */
const PIECE_CHARS = 256 * 1024;
const PIECE_BYTES = 256 * 1024;

const MAX_OPENED_BYTES = 64 * 1024 * 1024;
/** Processor time allowed for a copy: a fixed part, and a part for each megabyte of the file. */
const [COPY_MS, COPY_MS_PER_MB] = [120_000, 2000] as const;

/**
 * Writes chosen rows of a Parquet file to another one with the same columns and values, nested ones included, and
 * optionally a text column. Returns the number of rows written. Throws ParquetProblem if the input cannot be read to its
 * end, the errors of `write` and `choices`, and the reason of an abort.
 */
export async function copyTable({ table, addedColumn, choices, write, signal }: TableCopy): Promise<number> {
  const chosen = await openUnnamedFile();
  const output = await openUnnamedFile();
  try {
    await writeChoices(choices, chosen);
    const process = new TableProcess([table.handle.fd, output.fd, chosen.fd]);
    try {
      await process.ask({ op: 'open' }, opened, { maxBytes: MAX_OPENED_BYTES, signal });
      const processorMs = COPY_MS + (COPY_MS_PER_MB * table.bytes) / 1024 / 1024;
      const options = { maxBytes: MAX_OPENED_BYTES, signal, processorMs };
      const { rows } = await process.ask({ op: 'copy', addedColumn }, copied, options);
      for await (const piece of output.createReadStream({
        ...{ start: 0, autoClose: false, highWaterMark: PIECE_BYTES, signal },
      })) {
        await write(piece as Buffer);
      }
      return rows;
    } finally {
      await process.kill();
    }
  } finally {
    await chosen.close();
    await output.close();
  }
}

/** Writes the choices as a CSV table, one row for each row: whether to keep it, and the text to add. */
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
