import { constants } from 'node:fs';
import { access, lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';
import { DashboardError } from '../errors.ts';

/** Longest name of a folder on any file system that matters. */
const MAX_NAME = 255;

/** Entries of the folder that are examined: far more than runs that are kept. */
const MAX_ENTRIES = 100_000;

/** Names of runs, and of copies that people make: nothing that means something in a path, a URL or a terminal. */
const PLAIN_NAME = /^[A-Za-z0-9][\w.-]*$/;

/** The folder whose runs the dashboard shows. */
export class RunFolder {
  /** Absolute. */
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /**
   * The absolute path of the run directory with a name. NOT_FOUND unless the name is plain, and that of a folder, not a
   * link, which holds a run. The folder's content may be from anybody: read it as `record` does.
   */
  async find(name: string): Promise<string> {
    const dir = this.#place(name);
    if (dir === null || !(await isRunDirectory(dir))) {
      throw new DashboardError('NOT_FOUND', 'there is no such run');
    }
    return dir;
  }

  /** Like `find`, for a run to write to: FORBIDDEN unless only this user can write in it. */
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

  /** The names of all run directories, damaged ones and those with names that `find` refuses included, newest first. */
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

  /** Whether runs can be created and steered here. */
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

/** Whether a run with this name can be asked for. */
export function isPlainName(name: string): boolean {
  return name.length <= MAX_NAME && PLAIN_NAME.test(name);
}

/** Whether there is a folder at this path, not a link, with a run.json. */
export async function isRunDirectory(dir: string): Promise<boolean> {
  try {
    return (await lstat(dir)).isDirectory() && (await lstat(join(dir, RUN_FILES.run))).isFile();
  } catch {
    return false;
  }
}
