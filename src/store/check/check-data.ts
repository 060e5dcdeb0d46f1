import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAsClosed } from '../closed-note.ts';
import { STORE_FILES } from '../../files/store-files.ts';
import { openFile } from '../../files/open-file.ts';
import { checkPages, lastTransaction } from './check-pages.ts';

/** The files of the data, and whether each may be missing. */
const FILES = [
  [STORE_FILES.data, false],
  [STORE_FILES.lock, true],
  [STORE_FILES.closed, true],
] as const;

/**
 * Whether the data in a folder can be mapped into this process, which damage could end. A file that is as it was when it
 * was last closed is not read; one that a crash left, or that somebody changed, is checked page by page: less than
 * a second per million verdicts.
 */
export async function isSound(folder: string, signal: AbortSignal): Promise<boolean> {
  for (const [name, mayLack] of FILES) if (!(await isOrdinary(join(folder, name), mayLack))) return false;
  if (await isAsClosed(folder)) return true;
  const file = await openFile(join(folder, STORE_FILES.data), 'refuse');
  try {
    const before = lastTransaction(file.fd);
    if (before === null) return false;
    if (await checkPages(file.fd, signal)) return true;
    // Another process, which checked the file when it opened it, wrote over pages while they were read.
    const after = lastTransaction(file.fd);
    return after !== null && after > before;
  } finally {
    await file.close();
  }
}

/** Whether a file is there that can be opened without waiting: opening a pipe in its place would wait for ever. */
async function isOrdinary(path: string, mayLack: boolean): Promise<boolean> {
  try {
    return (await lstat(path)).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return mayLack;
    throw error;
  }
}
