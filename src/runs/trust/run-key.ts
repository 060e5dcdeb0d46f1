import { randomBytes } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { createFile } from '../../files/create-file.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { makeFolders } from '../../files/durable-write.ts';

const KEY_BYTES = 32;
const OF_OTHERS = 0o077;

/**
 * Where this user's key is: `guardsweep/run-key` in the folder for the state of programs, which is XDG_STATE_HOME where
 * that is set, else ~/.local/state. Throws the system's error for a user without a home.
 */
function keyPath(env: NodeJS.ProcessEnv): string {
  const named = env['XDG_STATE_HOME'] ?? '';
  const state = isAbsolute(named) ? named : join(homedir(), '.local', 'state');
  return join(state, 'guardsweep', 'run-key');
}

/**
 * The key by which this user recognises the runs that were created here, 32 bytes; null when there is none, or when it
 * cannot be read or belongs to, or can be read by, somebody else.
 */
export async function readRunKey(env: NodeJS.ProcessEnv): Promise<Buffer | null> {
  try {
    const file = await openFile(keyPath(env), 'refuse');
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

/** The same, made first where there is none. Null where it cannot be made: a run does not need it. */
export async function runKey(env: NodeJS.ProcessEnv): Promise<Buffer | null> {
  const found = await readRunKey(env);
  if (found !== null) return found;
  let temporary: string | null = null;
  try {
    const path = keyPath(env);
    temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    await makeFolders(join(path, '..'));
    const file = await createFile(temporary);
    try {
      await file.writeFile(randomBytes(KEY_BYTES));
      await file.datasync();
    } finally {
      await file.close();
    }
    // Of several processes that make it at once one does.
    await link(temporary, path);
  } catch {
    // Read below is what another process made.
  }
  if (temporary !== null) await rm(temporary, { force: true }).catch(() => undefined);
  return readRunKey(env);
}
