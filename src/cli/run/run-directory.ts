import { existsSync, lstatSync, readdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { Failure } from '../../domain/failure.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/** Name that selects the newest run of the output folder. */
const LATEST = 'latest';
/** Maximum runs named in a message. */
const MAX_NAMED = 10;

/**
 * Resolves what a user typed to the absolute path of a run directory: a path; or, in the output folder, a run's name,
 * the beginning of exactly one name, or `latest`. An existing path takes precedence. Anything else is taken as a path,
 * and opening it fails because it is not a run directory. Failure('usage') if several names begin like that.
 */
export function resolveRunDirectory(given: string, cwd: string, out = DEFAULT_RUNS_FOLDER): string {
  const path = resolve(cwd, given);
  if (/[/\\]/.test(given) || isRun(path)) return withoutLink(path);
  const folder = resolve(cwd, out);
  const below = join(folder, given);
  if (isRun(below)) return withoutLink(below);
  if (existsSync(path)) return path;
  const names = runsIn(folder);
  const found = given === LATEST ? names.slice(-1) : names.filter((name) => name.startsWith(given));
  if (found.length > 1) {
    const more = found.length > MAX_NAMED ? `, and ${found.length - MAX_NAMED} more` : '';
    const candidates = found.slice(0, MAX_NAMED).map((name) => quoteName(name));
    throw new Failure(
      'usage',
      `${quoteName(given)} may be any of ${candidates.join(', ')}${more}: type more of the name`,
    );
  }
  return withoutLink(found.length === 1 ? join(folder, found[0]!) : path);
}

/** Names of the runs in a folder, in order of creation. */
function runsIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return [];
  }
  return names.filter((name) => !name.startsWith('.') && isRun(join(folder, name))).sort();
}

/** Resolves a link that the user named once, here, so its target cannot change between checks and work. */
function withoutLink(path: string): string {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  return isLink && existsSync(path) ? realpathSync(path) : path;
}

/** True for damaged runs too: opening them reports the problem. */
function isRun(folder: string): boolean {
  return existsSync(join(folder, RUN_FILES.run));
}
