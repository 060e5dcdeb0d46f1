import type { Stats } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { usageError } from '../usage-error.ts';
import { checkShape, readYamlFile, type YamlFile } from '../yaml-file.ts';
import { JOB_SCHEMA } from './job-schema.ts';

/** A job file of the right shape. Its values are read through the settings. */
export interface JobFile {
  readonly yaml: YamlFile;
  readonly sourceCount: number;
  /** Absolute folder of the file, to which its paths are relative. */
  readonly folder: string;
}

/** Whether an argument of `enqueue` names a job file rather than a corpus. */
export function isJobFile(path: string): boolean {
  return /\.ya?ml$/i.test(path);
}

/**
 * Reads a job file. Failure('usage') for the first mistake in its shape, with its line and column, and for a file that
 * another user can change.
 */
export async function readJobFile(path: string, cwd: string): Promise<JobFile> {
  const absolute = resolve(cwd, path);
  const yaml = await readYamlFile(absolute, { value: path, place: 'argument' }, (stats) =>
    assertOwnJobFile(stats, path),
  );
  const { sources } = checkShape(JOB_SCHEMA, yaml) as { readonly sources: readonly unknown[] };
  return { yaml, sourceCount: sources.length, folder: dirname(absolute) };
}

const ADMINISTRATOR = 0;
const GROUP_WRITABLE = 0o020;
const WORLD_WRITABLE = 0o002;

const POWER = 'decides what is read, where it is sent and what is run';

/**
 * Rejects a job file that users other than this one and the administrator can change. A job file is as powerful as a
 * program, and `enqueue uploads/*` runs the only file of a folder if its name ends in `.yaml`. Rejects group write
 * access unless it is the user's own group, to which a umask of 002 gives write access to every file. On systems
 * without file owners, such as Windows, nothing is rejected. `path` is the file as the user named it. Failure('usage').
 */
function assertOwnJobFile({ uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>, path: string): void {
  if (process.geteuid === undefined) return;
  if (uid !== process.geteuid() && uid !== ADMINISTRATOR) {
    throw usageError(
      path,
      `belongs to another user, and a job file ${POWER}: look at it, and run a copy of your own`,
    );
  }
  const isOwnGroup = gid === process.getegid!() || gid === ADMINISTRATOR;
  if ((mode & WORLD_WRITABLE) !== 0 || ((mode & GROUP_WRITABLE) !== 0 && !isOwnGroup)) {
    throw usageError(
      path,
      `others can write in this job file, and it ${POWER}: take that right away first (chmod go-w ${path})`,
    );
  }
}
