import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { workbookBytes, type WorkbookColumn, type WorkbookPart } from './workbook.ts';

/** Workbooks of more rows are made in a thread. For fewer, starting a thread takes longer than making them. */
export const MANY_ROWS = 500;

/**
 * Makes the workbooks of a run, one after the other, without holding up the event loop: large ones in one thread, where
 * the first takes almost twice as long as those after it. To be closed.
 */
export class WorkbookMaker {
  readonly #columns: readonly WorkbookColumn[];
  readonly #signal: AbortSignal;
  #thread: Worker | null = null;

  constructor(columns: readonly WorkbookColumn[], signal: AbortSignal) {
    this.#columns = columns.map(({ title, width, format }) => ({ title, width, format }));
    this.#signal = signal;
  }

  /** The same as `workbookBytes`. Rejects with the signal's reason when aborted. */
  async make(part: WorkbookPart): Promise<Buffer> {
    const signal = this.#signal;
    signal.throwIfAborted();
    if (this.#thread === null && part.rows.length <= MANY_ROWS) return workbookBytes(this.#columns, part);
    const thread = (this.#thread ??= startThread(this.#columns));
    thread.postMessage(part);
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const ended = once(thread, 'exit', { signal: either }).then(() => {
      throw new Error('the thread that makes a workbook ended without it');
    });
    try {
      const made = once(thread, 'message', { signal: either });
      const [bytes] = (await Promise.race([made, ended])) as [Uint8Array];
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      over.abort();
      ended.catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.#thread?.terminate();
  }
}

function startThread(columns: readonly WorkbookColumn[]): Worker {
  const entry = createRequire(import.meta.url).resolve('#dist/src/analysis/tables/workbook-thread.js');
  return new Worker(entry, { workerData: columns, name: 'workbook' });
}
