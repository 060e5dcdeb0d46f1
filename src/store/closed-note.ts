import { rm, stat, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporary } from '../files/create-file.ts';
import { readWholeFile } from '../files/open-file.ts';
import { STORE_FILES, temporaryStoreFile } from '../files/store-files.ts';

const MAX_NOTE_BYTES = 512;

/**
 * Notes the state of the data file after it was closed. As long as the file has this state, nothing but this program has
 * written to it.
 */
export async function noteClosed(folder: string): Promise<void> {
  const path = join(folder, STORE_FILES.closed);
  const temporary = temporaryStoreFile(path);
  const file = await createTemporary(temporary);
  try {
    await file.writeFile(await stateOf(folder));
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

/** Whether the data file is as it was when it was last closed. */
export async function isAsClosed(folder: string): Promise<boolean> {
  try {
    const note = await readWholeFile(join(folder, STORE_FILES.closed), {
      maxBytes: MAX_NOTE_BYTES,
      links: 'refuse',
    });
    return note.toString() === (await stateOf(folder));
  } catch {
    return false;
  }
}

/** To be called before the data file is opened: whoever does not close it leaves no note. */
export async function removeClosedNote(folder: string): Promise<void> {
  await rm(join(folder, STORE_FILES.closed), { force: true });
}

async function stateOf(folder: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await stat(join(folder, STORE_FILES.data), { bigint: true });
  const state = { inode: ino, bytes: size, changed: mtimeNs, noted: ctimeNs };
  return `${JSON.stringify(state, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}\n`;
}
