import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { shellWord } from '../../domain/text/escape-text.ts';
import { type SharedFolder, sharedWithOthers } from '../../files/folders.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/** The first folder of a run directory that other users could change, with the reason; null when there is none. */
async function sharedFolder(runDir: string): Promise<{ path: string; why: SharedFolder } | null> {
  const { log, control, review } = RUN_FILES;
  for (const path of [runDir, join(runDir, log), join(runDir, control), join(runDir, review)]) {
    try {
      const why = await sharedWithOthers(path);
      if (why !== null) return { path, why };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return null;
}

/**
 * Failure('usage') unless only this user can write in a run directory and its folders. Every writer checks this first:
 * otherwise another user could redirect its writes with symbolic links.
 */
export async function assertOwnRun(runDir: string): Promise<void> {
  const shared = await sharedFolder(runDir);
  if (shared === null) return;
  throw new Failure(
    'usage',
    shared.why === 'of another user'
      ? `${shared.path} belongs to another user: work on it as that user, or on a copy of the run directory that is yours`
      : `others can write in ${shared.path}: revoke that first (chmod -R go-w ${shellWord(runDir)}); ` +
          'where the file system has no permissions (FAT, exFAT, some network shares), move the run directory to one ' +
          'that has, or mount it with umask=077',
  );
}
