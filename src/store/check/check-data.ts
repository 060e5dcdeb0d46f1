import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAsClosed } from '../closed-note.ts';
import { STORE_FILES } from '../../files/store-files.ts';
import { openFile } from '../../files/open-file.ts';
import { checkPages, lastTransaction } from './check-pages.ts';

/**
 * Whether the data in a folder can be mapped into this process, which damage could end. A file that is as it was when it
 * was last closed is not read; one that a crash left, or that somebody changed, is checked page by page: less than
 * a second per million verdicts.
 */
export async function isSound(folder: string, signal: AbortSignal): Promise<boolean> {
  if (!(await canBeLocked(folder))) return false;
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

/** Opening a pipe in place of the file of the locks would wait for ever. */
async function canBeLocked(folder: string): Promise<boolean> {
  try {
    return (await lstat(join(folder, STORE_FILES.lock))).isFile();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
}
