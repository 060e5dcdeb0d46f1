import { hash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { lstat, open, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FILE_MODE } from '../files/create-file.ts';
import { readWholeFile } from '../files/open-file.ts';
import { STORE_FILES, STORE_USER } from '../files/store-files.ts';

/** How often a process shows that it still uses a store, in milliseconds. */
const SIGN_EVERY_MS = 1000;
/** A process that does not show that within so long was killed or stopped, in milliseconds. */
const SILENT_AFTER_MS = 5000;
/** How often the signs are looked at, in milliseconds. */
const LOOK_EVERY_MS = 100;

/**
 * Names the processes whose ids differ: those of one boot of one machine, in one pid namespace. LMDB tells processes apart
 * by their ids, so containers, in each of which the first process has the id 1, must not share its file.
 */
export function processSpace(): string {
  let space = hostname();
  try {
    space += readFileSync('/proc/sys/kernel/random/boot_id', 'utf8') + readlinkSync('/proc/self/ns/pid');
  } catch {
    // Without namespaces, a host name is enough.
  }
  return hash('sha256', space).slice(0, 16);
}

/**
 * Whether data may be opened: its last user closed it and it has not changed since, or its users go on. Data that was left
 * in any other way may be damaged, which can end the process: the library maps its file and trusts it. And a process that
 * was stopped (Ctrl-Z) while it wrote would have the library wait without end. Rejects with the signal's reason when aborted.
 */
export async function mayOpen(folder: string, signal: AbortSignal): Promise<boolean> {
  for (const name of [STORE_FILES.data, STORE_FILES.lock]) {
    // Opening a pipe would block forever.
    const found = await lstat(join(folder, name)).catch(() => null);
    if (found === null ? name === STORE_FILES.data : !found.isFile()) return false;
  }
  const silent = await signsIn(folder);
  for (let waited = 0; silent.size > 0; waited += LOOK_EVERY_MS) {
    if (waited > SILENT_AFTER_MS) return false;
    const dead = [...silent.keys()].filter(isOfDeadProcess);
    await delay(LOOK_EVERY_MS);
    signal.throwIfAborted();
    const signs = await signsIn(folder);
    // A process that ended in order has removed its sign before.
    if (dead.some((name) => signs.has(name))) return false;
    for (const [name, touched] of silent) if (signs.get(name) !== touched) silent.delete(name);
  }
  // In this order: a process that begins at the same time makes its sign before it removes the note.
  return (await isAsClosed(folder)) || (await signsIn(folder)).size > 0;
}

/** The signs in a folder, with the times at which they were touched. */
async function signsIn(folder: string): Promise<Map<string, number>> {
  const signs = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const found = name.startsWith(STORE_USER) ? await stat(join(folder, name)).catch(() => null) : null;
    if (found !== null) signs.set(name, found.mtimeMs);
  }
  return signs;
}

/** Whether a sign is of a process of this space that is no more. */
function isOfDeadProcess(name: string): boolean {
  const [space, pid] = name.slice(STORE_USER.length).split('-');
  if (space !== processSpace()) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

async function isAsClosed(folder: string): Promise<boolean> {
  const options = { maxBytes: 512, links: 'refuse' } as const;
  const closed = await readWholeFile(join(folder, STORE_FILES.closed), options).catch(() => null);
  return closed !== null && String(closed) === (await stateOf(folder));
}

async function stateOf(folder: string): Promise<string> {
  const { size, mtimeNs, ctimeNs } = await lstat(join(folder, STORE_FILES.data), { bigint: true });
  return `${JSON.stringify({ bytes: String(size), written: String(mtimeNs), changed: String(ctimeNs) })}\n`;
}

/** A sign that this process uses the data of a store, in a file that is touched for as long as it does. */
export class StoreUser {
  readonly #folder: string;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(folder: string, path: string) {
    this.#folder = folder;
    this.#path = path;
    const touch = (): void => {
      const now = new Date();
      // Another process has replaced the data, and removed its folder, if this one was stopped for long.
      utimes(path, now, now).catch(() => undefined);
    };
    this.#timer = setInterval(touch, SIGN_EVERY_MS).unref();
  }

  /**
   * To be called before the data is opened. Null when a process of another space uses it. `space`: as by `processSpace`.
   */
  static async begin(folder: string, space = processSpace()): Promise<StoreUser | null> {
    const own = `${STORE_USER}${space}-${process.pid}-${randomBytes(4).toString('hex')}`;
    const path = join(folder, own);
    // First this sign, then a look at the others: of two that begin at once, at least one sees the other.
    await writeFile(path, '', { mode: FILE_MODE, flag: 'wx' });
    const user = new StoreUser(folder, path);
    const isOther = (name: string): boolean => !name.startsWith(`${STORE_USER}${space}-`);
    if ([...(await signsIn(folder)).keys()].some(isOther)) {
      await user.end();
      return null;
    }
    // A process that does not close the data leaves no note.
    await rm(join(folder, STORE_FILES.closed), { force: true });
    return user;
  }

  /** Notes what the data file is like after it was closed. All of it is on disk before the note; half a note is none. */
  async noteClosed(): Promise<void> {
    const data = await open(join(this.#folder, STORE_FILES.data), 'r+');
    await data.datasync().finally(() => data.close());
    await writeFile(join(this.#folder, STORE_FILES.closed), await stateOf(this.#folder), { mode: FILE_MODE });
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await rm(this.#path, { force: true }).catch(() => undefined);
  }
}
