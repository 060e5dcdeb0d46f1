/** The program of a thread that hashes one file and tells what came of it. */
import { parentPort, workerData } from 'node:worker_threads';
import { hashBytes, type HashedFile, type HashTask } from './hash-bytes.ts';

/** A system's error loses its code on the way between threads unless that goes by itself. */
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
