import { isAsClosed } from './closed-note.ts';

/** What became of a check: `busy` when another process keeps the data locked. */
export type DataCheck = 'sound' | 'damaged' | 'busy';

/** Checks the data in a folder before it is mapped into this process, where damage could end the process. */
export async function checkData(folder: string, signal: AbortSignal): Promise<DataCheck> {
  signal.throwIfAborted();
  return (await isAsClosed(folder)) ? 'sound' : 'damaged';
}
