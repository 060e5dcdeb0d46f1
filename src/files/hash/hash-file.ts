import type { FileHandle } from 'node:fs/promises';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { openFile } from '../open-file.ts';
import { hashBytes, type HashedFile, type HashTask } from './hash-bytes.ts';
import type { HashAnswer } from './hash-thread.ts';

/**
 * Files of at least this size are hashed in a thread. For smaller ones, starting a thread takes longer than hashing.
 */
export const LARGE_BYTES = 32 * 1024 * 1024;

interface HashOptions {
  readonly signal: AbortSignal;
  /** How many of the first bytes to hash; default: the size of the file at the start. */
  readonly bytes?: number;
}

/**
 * SHA-256 of a file's first bytes. Large files are hashed off the event loop. A link in the last part of the path is
 * not followed. Rejects as `openFile` does, with the system's error when the file cannot be read, or with the signal's
 * reason.
 */
export async function hashFile(path: string | Buffer, options: HashOptions): Promise<HashedFile> {
  const handle = await openFile(path, 'refuse');
  try {
    return await hashOpenFile(handle, options);
  } finally {
    await handle.close();
  }
}

/** The same for an open file, whatever its path refers to by now. */
export async function hashOpenFile(handle: FileHandle, options: HashOptions): Promise<HashedFile> {
  const { size } = await handle.stat();
  // A file that keeps growing would never end.
  const limit = Math.min(size, options.bytes ?? size);
  const task = { fd: handle.fd, limit };
  return limit >= LARGE_BYTES ? hashInThread(task, options.signal) : hashBytes(task, options.signal);
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
