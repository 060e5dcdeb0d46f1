import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/**
 * The run directory that somebody means, absolute: a path, or the name alone of a run below the output folder. What is
 * neither is taken for a path, of which whoever opens it says that it is no run directory.
 */
export function runDirectoryOf(given: string, cwd: string, out = DEFAULT_RUNS_FOLDER): string {
  const path = resolve(cwd, given);
  if (/[/\\]/.test(given) || isRun(path)) return withoutLink(path);
  const below = resolve(cwd, out, given);
  return withoutLink(isRun(below) ? below : path);
}

/** A link that the user named is followed once, here: what it leads to is then looked at and worked on, not the link. */
function withoutLink(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && existsSync(path) ? realpathSync(path) : path;
}

/** Damaged ones too: whoever opens them says what is wrong. */
function isRun(folder: string): boolean {
  return existsSync(join(folder, RUN_FILES.run));
}
