import { constants } from 'node:fs';
import { access, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';
import { DashboardError } from '../errors.ts';

/** Longest folder name on any relevant file system. */
const MAX_NAME = 255;

/** Maximum entries of the folder that are examined, far more than anyone keeps runs. */
const MAX_ENTRIES = 100_000;

/** Names of runs, and of copies that people make. Contains nothing that is special in a path, a URL or a terminal. */
const PLAIN_NAME = /^[A-Za-z0-9][\w.-]*$/;

/** The folder of runs shown by the dashboard. */
export class RunFolder {
  /** Absolute path. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * Resolves the name of a run to the absolute path of its directory. NOT_FOUND unless the name is plain and is that of
   * a folder, not a link, that holds a run. Anyone may have written the folder's content, so read it as `record` does.
   */
  async find(name: string): Promise<string> {
    const dir = this.#place(name);
    if (dir === null || !(await isRunDirectory(dir))) {
      throw new DashboardError('NOT_FOUND', 'there is no such run');
    }
    return dir;
  }

  /** Like `find`, but for changing a run: FORBIDDEN unless only this user can write to it. */
  async findOwn(name: string): Promise<string> {
    const dir = await this.find(name);
    try {
      await assertOwnRun(dir);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new DashboardError('FORBIDDEN', error.message);
    }
    return dir;
  }

  /** Names of all run directories, newest first, including damaged ones and those whose names `find` rejects. */
  async names(): Promise<string[]> {
    const found: string[] = [];
    try {
      for await (const entry of await opendir(this.path)) {
        if (found.length === MAX_ENTRIES) break;
        if (entry.isDirectory() && !entry.name.startsWith('.')) found.push(entry.name);
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    return found.sort().reverse();
  }

  /** Whether runs can be created and controlled here. */
  async isWritable(): Promise<boolean> {
    return access(this.path, constants.W_OK | constants.X_OK).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === 'ENOENT',
    );
  }

  #place(name: string): string | null {
    return isPlainName(name) ? join(this.path, name) : null;
  }
}

/** Whether a run with this name can be requested. */
export function isPlainName(name: string): boolean {
  return name.length <= MAX_NAME && PLAIN_NAME.test(name);
}

/** Whether the path is a folder, not a link, with a run.json. */
export async function isRunDirectory(dir: string): Promise<boolean> {
  try {
    return (await lstat(dir)).isDirectory() && (await lstat(join(dir, RUN_FILES.run))).isFile();
  } catch {
    return false;
  }
}
