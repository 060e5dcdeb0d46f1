import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { Failure } from '../../domain/failure.ts';
import type { ReportAnswer, ReportTask } from './report-thread.ts';

/**
 * Makes the report of a run in a thread, since drawing the charts takes half a second. Rejects as `collectReport` does.
 */
export function makeReport(dir: string, signal: AbortSignal, before: string | null = null): Promise<string> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const entry = createRequire(import.meta.url).resolve('#dist/src/report/html/report-thread.js');
    const thread = new Worker(entry, { workerData: { dir, before } satisfies ReportTask, name: 'report' });
    const abort = (): void => void thread.terminate();
    signal.addEventListener('abort', abort, { once: true });
    let failure: unknown = new Error('the thread that makes a report ended without an answer');
    thread.on('error', (error) => (failure = error));
    thread.on('message', (answer: ReportAnswer) => {
      if (answer.html !== null) resolve(answer.html);
      else failure = new Failure(answer.failure.kind, answer.failure.message);
    });
    thread.on('exit', () => {
      signal.removeEventListener('abort', abort);
      reject(signal.aborted ? (signal.reason as Error) : (failure as Error));
    });
  });
}
