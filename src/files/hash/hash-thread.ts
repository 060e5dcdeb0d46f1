/** Entry point of a thread that hashes one file and posts the result. */
import { parentPort, workerData } from 'node:worker_threads';
import { hashBytes, type HashedFile, type HashTask } from './hash-bytes.ts';

/** `code` is sent separately: structured cloning drops it from errors. */
export type HashAnswer =
  | { readonly hashed: HashedFile; readonly code: null }
  | { readonly hashed: null; readonly code: string | undefined; readonly message: string };

async function answer(task: HashTask): Promise<HashAnswer> {
  try {
    return { hashed: await hashBytes(task, new AbortController().signal), code: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { hashed: null, code, message };
  }
}

parentPort!.postMessage(await answer(workerData as HashTask));
