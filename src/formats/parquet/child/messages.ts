import { z } from 'zod';

/**
 * Messages to and from the process that reads one Parquet file, as lines of JSON. It answers each request once, in order.
 * `open` returns the columns of the file, `read` its first rows, `next` the following ones; `copy` writes a copy.
 */
export type Request =
  | { readonly op: 'open' }
  | ({ readonly op: 'read' } & ReadRequest)
  | { readonly op: 'next' }
  | {
      readonly op: 'copy';
      /** Name of the column to add, or null. */
      readonly addedColumn: string | null;
    };

export interface ReadRequest {
  /** Indexes of the columns to read; other columns have null values. */
  readonly columns: readonly number[];
  /** First row, counted from 0. */
  readonly from: number;
  /** Maximum bytes of a row. */
  readonly rowBytes: number;
  /** Maximum number of rows to decode at once; null for DuckDB's own choice. */
  readonly range: number | null;
}

/** Why a file cannot be read. */
const problem = z.object({
  kind: z.enum(['damaged', 'encoding', 'memory', 'encrypted', 'codec']),
  /** Label of the column at fault, or null if unknown. */
  column: z.string().nullable(),
});
export type Problem = z.infer<typeof problem>;

const reply = z.object({
  /** Processor time of the process so far. */
  cpuMs: z.number(),
  problem: problem.optional(),
});

export const opened = reply.extend({
  columns: z.array(z.string()).default([]),
  /** Whether a column, or one inside it, contains text or bytes. */
  holdsText: z.array(z.boolean()).default([]),
  /** Number of rows. */
  rows: z.number().default(0),
  /** Paths of text inside columns. */
  nested: z.array(z.string()).default([]),
});

/** A row: its number from 0, its size in bytes, and its values by column, or null if the row is too large. */
const row = z.tuple([z.number().int(), z.number(), z.array(z.unknown()).nullable()]);
export type ReadRow = z.infer<typeof row>;

export const batch = reply.extend({
  rows: z.array(row).default([]),
  /** Whether these rows are the last ones. */
  isEnd: z.boolean().default(false),
});

export const copied = reply.extend({ rows: z.number().default(0) });

/** Maximum rows of a batch. */
export const BATCH_ROWS = 512;

/** Maximum length of a line of JSON for a row; characters can be escaped, and images are in base64. */
export function lineBytes(rowBytes: number): number {
  return 2 * rowBytes + 64 * 1024;
}

/** Descriptors of the process: the file to read, its copy, and the choice for each row. */
export const [TABLE_FD, COPY_FD, CHOICES_FD] = [3, 4, 5] as const;
