import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { workbookBytes, type FlaggedRows, type WorkbookColumn } from './workbook.ts';

/** A workbook of more rows is made in a thread. For fewer, starting a thread takes longer than making it. */
export const MANY_ROWS = 500;

/** The same as `workbookBytes`, without holding up the event loop. Rejects with the signal's reason when aborted. */
export async function makeWorkbook(
  columns: readonly WorkbookColumn[],
  flagged: FlaggedRows,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  if (flagged.rows.length <= MANY_ROWS) return workbookBytes(columns, flagged);
  const plain = columns.map(({ title, width, format }) => ({ title, width, format }));
  const entry = createRequire(import.meta.url).resolve('#dist/src/analysis/tables/workbook-thread.js');
  const thread = new Worker(entry, { workerData: [plain, flagged], name: 'workbook' });
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const ended = once(thread, 'exit', { signal: either }).then(() => {
    throw new Error('the thread that makes the workbook ended without it');
  });
  try {
    const [bytes] = (await Promise.race([once(thread, 'message', { signal: either }), ended])) as [
      Uint8Array,
    ];
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    over.abort();
    ended.catch(() => undefined);
    await thread.terminate();
  }
}
