import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { hashBytes, type HashedFile } from './hash-bytes.ts';
import type { HashAnswer, HashTask } from './hash-thread.ts';

/** From this size on a file is hashed in a thread: below, starting one takes longer than the hashing. */
export const LARGE_BYTES = 32 * 1024 * 1024;

/**
 * SHA-256 of a file's first so many bytes, default all; those of a large file are not hashed on the event loop. Rejects
 * with the system's error when the file cannot be read, or with the signal's reason.
 */
export async function hashFile(
  path: string | Buffer,
  options: { readonly signal: AbortSignal; readonly bytes?: number },
): Promise<HashedFile> {
  const { signal, bytes: limit = Number.POSITIVE_INFINITY } = options;
  const large = Math.min((await stat(path)).size, limit) >= LARGE_BYTES;
  return large ? hashInThread({ path, limit }, signal) : hashBytes(path, limit, signal);
}

function hashInThread(task: HashTask, signal: AbortSignal): Promise<HashedFile> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const entry = new URL(`./hash-thread${extname(import.meta.url)}`, import.meta.url);
    const thread = new Worker(entry, { workerData: task, name: 'hash' });
    const abort = (): void => void thread.terminate();
    signal.addEventListener('abort', abort, { once: true });
    let failure: unknown = new Error('the thread that hashes a file ended without an answer');
    thread.on('error', (error) => (failure = error));
    thread.on('message', (answer: HashAnswer) => {
      if (answer.hashed !== null) resolve(answer.hashed);
      else failure = Object.assign(new Error(answer.message), { code: answer.code });
    });
    thread.on('exit', () => {
      signal.removeEventListener('abort', abort);
      reject(signal.aborted ? (signal.reason as Error) : (failure as Error));
    });
  });
}
