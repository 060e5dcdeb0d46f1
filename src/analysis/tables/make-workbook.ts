import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { workbookBytes, type WorkbookColumn, type WorkbookRow } from './workbook.ts';

/** A workbook of more rows is made in a thread. For fewer, starting a thread takes longer than making it. */
export const MANY_ROWS = 500;

/** The most severe of a run's flagged items. */
export interface FlaggedRows {
  readonly batches: AsyncIterable<readonly WorkbookRow[]>;
  /** Rows in all batches. */
  readonly rows: number;
  /** Flagged items of the run. */
  readonly total: number;
}

/**
 * The workbook with these rows, made without holding up the event loop: many rows are given to a thread as they come.
 * Rejects with the signal's reason when aborted.
 */
export async function makeWorkbook(
  columns: readonly WorkbookColumn[],
  { batches, rows, total }: FlaggedRows,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  if (rows <= MANY_ROWS) {
    const all: WorkbookRow[] = [];
    for await (const batch of batches) all.push(...batch);
    return workbookBytes(columns, all, total);
  }
  const plain = columns.map(({ title, width, format }) => ({ title, width, format }));
  const entry = createRequire(import.meta.url).resolve('#dist/src/analysis/tables/workbook-thread.js');
  const thread = new Worker(entry, { workerData: [plain, rows, total], name: 'workbook' });
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const ended = once(thread, 'exit', { signal: either }).then(() => {
    throw new Error('the thread that makes the workbook ended without it');
  });
  const made = Promise.race([once(thread, 'message', { signal: either }), ended]);
  // It may reject while batches are awaited.
  made.catch(() => undefined);
  try {
    for await (const batch of batches) thread.postMessage(batch);
    const [bytes] = (await made) as [Uint8Array];
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    await thread.terminate();
  }
}
