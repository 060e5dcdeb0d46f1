/** The program of a thread that hashes one file and tells what came of it. */
import { parentPort, workerData } from 'node:worker_threads';
import { hashBytes, type HashedFile } from './hash-bytes.ts';

export interface HashTask {
  readonly path: string | Uint8Array;
  readonly limit: number;
}

/** A system's error loses its code on the way between threads unless that goes by itself. */
export type HashAnswer =
  | { readonly hashed: HashedFile; readonly code: null }
  | { readonly hashed: null; readonly code: string | undefined; readonly message: string };

async function answer({ path, limit }: HashTask): Promise<HashAnswer> {
  try {
    return { hashed: await hashBytes(path, limit, new AbortController().signal), code: null };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { hashed: null, code, message };
  }
}

parentPort!.postMessage(await answer(workerData as HashTask));
