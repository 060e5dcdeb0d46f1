import { z } from 'zod';

/**
 * Messages to and from the process that reads Parquet files: JSON, one a line. It answers each request once, in order.
 * `open` names the columns of the file; `read` returns its first rows, `next` some of the following ones; `copy` writes a copy.
 */
export type Request =
  | { readonly op: 'open' }
  | ({ readonly op: 'read' } & ReadRequest)
  | { readonly op: 'next' }
  | ({ readonly op: 'copy' } & CopyRequest);

export interface ReadRequest {
  /** Indexes of the columns to read; values of the others are null. */
  readonly columns: readonly number[];
  /** Counted from 0. */
  readonly from: number;
  /** WHATWG label of the encoding of bytes that are not UTF-8; null: not known. */
  readonly encoding: string | null;
  /** Columns of bytes may be texts: UTF-8 decides. */
  readonly bytesAreTexts: boolean;
  /** Max bytes of a row. */
  readonly rowBytes: number;
  /** Max rows that are decoded at once; null: as many as DuckDB likes. */
  readonly range: number | null;
}

export interface CopyRequest {
  /** The table has texts that are not UTF-8: they are read from the copy in which they are bytes. */
  readonly textsAreBytes: boolean;
  /** Name of the column to add; null: none. */
  readonly addedColumn: string | null;
}

/** Why a file cannot be read. */
const problem = z.enum(['damaged', 'encoding', 'memory', 'encrypted', 'codec']);
export type Problem = z.infer<typeof problem>;

/** Processor time of the process so far. */
const cpuMs = z.number();

export const opened = z.object({
  cpuMs,
  problem: problem.optional(),
  columns: z.array(z.string()).default([]),
  /** Whether a column, or one inside it, holds texts or bytes. */
  holdsText: z.array(z.boolean()).default([]),
  /** Number of rows. */
  rows: z.number().default(0),
  /** Paths of texts inside columns. */
  nested: z.array(z.string()).default([]),
});

/**
 * A row: its number from 0, its size in bytes, its values by column as JSON holds them (null: it is too large), and the
 * columns that hold bytes which are not text.
 */
const row = z.tuple([z.number().int(), z.number(), z.array(z.unknown()).nullable(), z.array(z.number())]);
export type ReadRow = z.infer<typeof row>;

export const batch = z.object({
  cpuMs,
  problem: problem.optional(),
  rows: z.array(row).default([]),
  /** There are no rows after these. */
  isEnd: z.boolean().default(false),
});

export const copied = z.object({ cpuMs, problem: problem.optional(), rows: z.number().default(0) });

export type TableReply = z.input<typeof opened> | z.input<typeof batch> | z.input<typeof copied>;

/** Rows and bytes of a batch, unless one row is larger. */
export const BATCH_ROWS = 512;

/** Longest line of JSON for a row: characters can be escaped, and images are in base64. */
export function lineBytes(rowBytes: number): number {
  return 2 * rowBytes + 64 * 1024;
}

/** Descriptors of the process: the file that is read; its copy, what becomes of each row, and the file with texts as bytes. */
export const [TABLE_FD, COPY_FD, CHOICES_FD, BYTES_FD] = [3, 4, 5, 6] as const;
