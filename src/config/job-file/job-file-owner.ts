import type { Stats } from 'node:fs';
import { mistake } from '../mistake.ts';

const ADMINISTRATOR = 0;
const GROUP_WRITABLE = 0o020;
const WORLD_WRITABLE = 0o002;

const POWER = 'decides what is read, where it is sent and what is run';

/**
 * Rejects a job file that users other than this one and the administrator can change. A job file is as powerful as a
 * program, and `enqueue uploads/*` runs the only file of a folder if its name ends in `.yaml`. Write access of a group
 * is rejected unless it is the user's own group, which can write all files with a umask of 002. On systems without
 * owners, such as Windows, nothing is rejected. `path` is how the user named the file. Failure('usage').
 */
export function assertOwnJobFile(
  { uid, gid, mode }: Pick<Stats, 'uid' | 'gid' | 'mode'>,
  path: string,
): void {
  if (process.geteuid === undefined) return;
  if (uid !== process.geteuid() && uid !== ADMINISTRATOR) {
    throw mistake(
      path,
      `belongs to another user, and a job file ${POWER}: look at it, and run a copy of your own`,
    );
  }
  const isOwnGroup = gid === process.getegid!() || gid === ADMINISTRATOR;
  if ((mode & WORLD_WRITABLE) !== 0 || ((mode & GROUP_WRITABLE) !== 0 && !isOwnGroup)) {
    throw mistake(
      path,
      `others can write in this job file, and it ${POWER}: take that right away first (chmod go-w ${path})`,
    );
  }
}
