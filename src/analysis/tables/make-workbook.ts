import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { workbookBytes, type WorkbookColumn, type WorkbookPart } from './workbook.ts';
import type { WorkbookTask } from './workbook-thread.ts';

/** Workbooks of more rows are made in a thread. For fewer, starting a thread takes longer than making them. */
export const MANY_ROWS = 500;

/** The same as `workbookBytes`, without holding up the event loop. Rejects with the signal's reason when aborted. */
export async function makeWorkbook(
  columns: readonly WorkbookColumn[],
  part: WorkbookPart,
  signal: AbortSignal,
): Promise<Buffer> {
  signal.throwIfAborted();
  if (part.rows.length <= MANY_ROWS) return workbookBytes(columns, part);
  const task: WorkbookTask = {
    columns: columns.map(({ title, width, format }) => ({ title, width, format })),
    part,
  };
  const entry = createRequire(import.meta.url).resolve('#dist/src/analysis/tables/workbook-thread.js');
  const thread = new Worker(entry, { workerData: task, name: 'workbook' });
  const ended = once(thread, 'exit').then(() => {
    throw new Error('the thread that makes a workbook ended without it');
  });
  try {
    const [bytes] = (await Promise.race([once(thread, 'message', { signal }), ended])) as [Uint8Array];
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    await thread.terminate();
  }
}
