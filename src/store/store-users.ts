import { hash, randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { FILE_MODE } from '../files/create-file.ts';
import { STORE_USER } from '../files/store-files.ts';

/** How often a process shows that it still uses a store, in milliseconds. */
const SIGN_EVERY_MS = 5000;
/** A process that has not shown that for so long is gone, in milliseconds. */
const GONE_AFTER_MS = 30_000;

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

/** A sign that this process uses the data of a store, in a file that is touched for as long as it does. */
export class StoreUser {
  readonly #path: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(path: string, onLost: () => void) {
    this.#path = path;
    const touch = (): void => {
      const now = new Date();
      // Another process has removed the sign, and uses the data, if this one was stopped for long.
      utimes(path, now, now).catch(onLost);
    };
    this.#timer = setInterval(touch, SIGN_EVERY_MS).unref();
  }

  /**
   * Null when a process of another space uses the data. `onLost` is called when this process may no longer use it. `space`:
   * as by `processSpace`.
   */
  static async begin(folder: string, onLost: () => void, space = processSpace()): Promise<StoreUser | null> {
    const own = `${STORE_USER}${space}-${randomBytes(4).toString('hex')}`;
    const path = join(folder, own);
    // First this sign, then a look at the others: of two that begin at once, at least one sees the other.
    await writeFile(path, '', { mode: FILE_MODE, flag: 'wx' });
    const user = new StoreUser(path, onLost);
    const now = (await stat(path)).mtimeMs;
    for (const name of await readdir(folder)) {
      if (!name.startsWith(STORE_USER) || name.startsWith(`${STORE_USER}${space}-`)) continue;
      const seen = await stat(join(folder, name)).catch(() => null);
      if (seen !== null && now - seen.mtimeMs < GONE_AFTER_MS) {
        await user.end();
        return null;
      }
      await rm(join(folder, name), { force: true });
    }
    return user;
  }

  async end(): Promise<void> {
    clearInterval(this.#timer);
    await rm(this.#path, { force: true }).catch(() => undefined);
  }
}
