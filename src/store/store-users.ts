import { hash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { lstat, open, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { FILE_MODE } from '../files/create-file.ts';
import { readWholeFile } from '../files/open-file.ts';
import { STORE_FILES, STORE_USER } from '../files/store-files.ts';

/** How often a process refreshes its sign that it uses a store, in milliseconds. */
const SIGN_EVERY_MS = 1000;
/** After this long without a refresh, in milliseconds, a process was killed or stopped. */
const SILENT_AFTER_MS = 5000;
/** How often the signs are checked, in milliseconds. */
const LOOK_EVERY_MS = 100;

/**
 * Identifies the processes with distinct ids: those of one boot of one machine, in one pid namespace. LMDB
 * distinguishes processes by their ids, so containers, whose first process always has id 1, must not share its file.
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
 * Whether data may be opened: its last user closed it and it has not changed since, or its users are still active. Data
 * left in any other state may be damaged, which can crash the process: the library maps its file and trusts it. In
 * addition, the library would wait forever for a process that was stopped (Ctrl-Z) while writing. Rejects with the
 * signal's reason when aborted.
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
    // A process that ended normally has removed its sign before.
    if (dead.some((name) => signs.has(name))) return false;
    for (const [name, touched] of silent) if (signs.get(name) !== touched) silent.delete(name);
  }
  // In this order: a process that starts at the same time creates its sign before it removes the note.
  return (await isAsClosed(folder)) || (await signsIn(folder)).size > 0;
}

/** The signs in a folder, with the times of their last refresh. */
async function signsIn(folder: string): Promise<Map<string, number>> {
  const signs = new Map<string, number>();
  for (const name of await readdir(folder)) {
    const found = name.startsWith(STORE_USER) ? await stat(join(folder, name)).catch(() => null) : null;
    if (found !== null) signs.set(name, found.mtimeMs);
  }
  return signs;
}

/** Whether a sign belongs to a process of this space that no longer exists. */
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

/** A sign that this process uses the data of a store: a file that is touched regularly during use. */
export class StoreUser {
  readonly #folder: string;
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(folder: string, path: string) {
    this.#folder = folder;
    this.#path = path;
    const touch = (): void => {
      const now = new Date();
      // If this process was stopped for long, another one has replaced the data and removed its folder.
      utimes(path, now, now).catch(() => undefined);
    };
    this.#timer = setInterval(touch, SIGN_EVERY_MS).unref();
  }

  /**
   * Must be called before the data is opened. Null when a process of another space uses it. `space` is as returned by
   * `processSpace`.
   */
  static async begin(folder: string, space = processSpace()): Promise<StoreUser | null> {
    const own = `${STORE_USER}${space}-${process.pid}-${randomBytes(4).toString('hex')}`;
    const path = join(folder, own);
    // This sign first, then a check of the others: of two processes that start at once, at least one sees the other.
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

  /**
   * Notes the state of the data file after it was closed. The file is completely on disk before the note; a partial
   * note counts as none.
   */
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
