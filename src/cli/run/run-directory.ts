import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/**
 * Absolute path of the run directory that a user named: by its path, or by the name of a run in the output folder. What
 * is neither is taken as a path; opening it fails with a message that says it is not a run directory.
 */
export function resolveRunDirectory(given: string, cwd: string, out = DEFAULT_RUNS_FOLDER): string {
  const path = resolve(cwd, given);
  if (/[/\\]/.test(given) || isRun(path)) return withoutLink(path);
  const below = resolve(cwd, out, given);
  return withoutLink(isRun(below) ? below : path);
}

/** Follows a link that the user named once, here, so that its target cannot change between checks and work. */
function withoutLink(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && existsSync(path) ? realpathSync(path) : path;
}

/** True for damaged ones too: opening them says what is wrong. */
function isRun(folder: string): boolean {
  return existsSync(join(folder, RUN_FILES.run));
}
