import { randomBytes } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { createFile } from '../../files/create-file.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { makeFolders } from '../../files/durable-write.ts';

const KEY_BYTES = 32;
const OF_OTHERS = 0o077;

/**
 * Path of this user's key file: `guardsweep/run-key` in XDG_STATE_HOME if that is set, else in ~/.local/state. Null for
 * a user without a home directory.
 */
export function runKeyFile(env: NodeJS.ProcessEnv): string | null {
  const named = env['XDG_STATE_HOME'] ?? '';
  try {
    const state = isAbsolute(named) ? named : join(homedir(), '.local', 'state');
    return join(state, 'guardsweep', 'run-key');
  } catch {
    return null;
  }
}

/**
 * Reads the 32-byte key that marks runs as created by this user on this machine. Null when the file is missing or
 * unreadable, or when another user owns it or can read it.
 */
export async function readRunKey(keyFile: string | null): Promise<Buffer | null> {
  if (keyFile === null) return null;
  try {
    const file = await openFile(keyFile, 'refuse');
    try {
      const { uid, mode } = await file.stat();
      const own = process.geteuid === undefined || (uid === process.geteuid() && (mode & OF_OTHERS) === 0);
      const key = await readFully(file, Buffer.alloc(KEY_BYTES), 0);
      return own && key.length === KEY_BYTES ? key : null;
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
}

/** Reads the key, creating it if there is none. Null when it cannot be created: a run works without it. */
export async function runKey(keyFile: string | null): Promise<Buffer | null> {
  const found = await readRunKey(keyFile);
  if (found !== null || keyFile === null) return found;
  const temporary = `${keyFile}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await makeFolders(dirname(keyFile));
    const file = await createFile(temporary);
    try {
      await file.writeFile(randomBytes(KEY_BYTES));
      await file.datasync();
    } finally {
      await file.close();
    }
    // Fails if another process has created the key in the meantime.
    await link(temporary, keyFile);
  } catch {
    // The other process's key is read below.
  }
  await rm(temporary, { force: true }).catch(() => undefined);
  return readRunKey(keyFile);
}
