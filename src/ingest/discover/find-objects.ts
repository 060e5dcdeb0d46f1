import { basename } from 'node:path';
import picomatch from 'picomatch';
import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { encodePath } from '../../domain/file-path.ts';
import { isObjectPath, parseObjectPath } from '../../domain/object-path.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { type ListedObject, listObjects } from '../objects/object-client.ts';
import { ObjectError } from '../objects/object-error.ts';
import { describesOthers, type FoundName } from './neighbours.ts';
import { stem } from './sidecars.ts';
import { isLeftover } from './walk/walk-folder.ts';
import { SkippedFiles } from './walk/skipped-files.ts';
import { globMatcher } from './within-corpora.ts';

/** The objects of a corpus and those next to it that may describe them; see `Corpus`. */
interface FoundObjects {
  readonly name: string;
  readonly isNamedFile: boolean;
  readonly files: readonly FoundName[];
  readonly beside: readonly FoundName[];
}

/**
 * Lists the object at a path; otherwise all objects below it; otherwise those that match it as a glob. The rules for
 * folders apply: a slash in a key separates as in a path. Failure('usage') if there are none, or the bucket may not be
 * listed.
 */
export async function findObjects(
  { path, given }: SourceConfig,
  skipped: SkippedFiles,
  signal: AbortSignal,
): Promise<FoundObjects> {
  try {
    const named = await findNamed(path, signal);
    if (named !== null) return named;
    const folder = path.endsWith('/') ? path : `${path}/`;
    const below = await listFolder(folder, skipped, signal);
    if (below.length > 0) return { name: basename(folder), isNamedFile: false, files: below, beside: [] };
    const { base, glob, isGlob } = picomatch.scan(path);
    const isPattern = isGlob && glob !== '' && isObjectPath(base);
    const found = isPattern ? await findByGlob(`${base}/`, globMatcher(glob), skipped, signal) : null;
    if (found !== null) return found;
    const what = isPattern ? 'nothing matches' : 'there are no objects in';
    throw new Failure('usage', `${what} ${JSON.stringify(given)}`);
  } catch (error) {
    if (!(error instanceof ObjectError)) throw error;
    throw new Failure('usage', `${JSON.stringify(given)} cannot be listed: ${error.message}`, {
      cause: error,
    });
  }
}

/** A named object, and those next to it whose names allow them to describe it; null if there is none with that key. */
async function findNamed(path: string, signal: AbortSignal): Promise<FoundObjects | null> {
  const key = parseObjectPath(path)?.key ?? '';
  if (key === '' || key.endsWith('/')) return null;
  const [first] = await firstPage(path, signal);
  if (first?.key !== key) return null;
  const name = basename(path);
  const folder = path.slice(0, path.length - name.length);
  const beside: FoundName[] = [];
  for (const start of [`${stem(name)}.`, 'manifest.']) {
    for (const { key: other } of await firstPage(folder + start, signal)) {
      const relative = encodePath(other.slice(key.length - name.length));
      if (relative !== encodePath(name) && !relative.includes('/') && describesOthers(relative)) {
        beside.push(locate(folder, relative));
      }
    }
  }
  return { name, isNamedFile: true, files: [locate(folder, encodePath(name))], beside };
}

async function firstPage(path: string, signal: AbortSignal): Promise<readonly ListedObject[]> {
  for await (const page of listObjects(path, signal)) return page;
  return [];
}

async function findByGlob(
  folder: string,
  matches: (relative: string) => boolean,
  skipped: SkippedFiles,
  signal: AbortSignal,
): Promise<FoundObjects | null> {
  const files = await listFolder(folder, skipped, signal, matches);
  if (files.length === 0) return null;
  const isBeside = (relative: string): boolean => !matches(relative) && describesOthers(relative);
  const beside = await listFolder(folder, new SkippedFiles(), signal, isBeside);
  return { name: basename(folder), isNamedFile: false, files, beside };
}

/**
 * Lists the wanted objects below a folder. Skips the files of runs and OS junk files, as in a folder, and the empty
 * objects that programs create to represent a folder.
 */
async function listFolder(
  folder: string,
  skipped: SkippedFiles,
  signal: AbortSignal,
  isWanted: (relative: string) => boolean = () => true,
): Promise<FoundName[]> {
  const objects: { readonly relative: string; readonly bytes: number }[] = [];
  const prefix = parseObjectPath(folder)!.key;
  for await (const page of listObjects(folder, signal)) {
    for (const { key, bytes } of page)
      objects.push({ relative: encodePath(key.slice(prefix.length)), bytes });
  }
  const runs = findRuns(objects.map(({ relative }) => relative));
  const files: FoundName[] = [];
  for (const { relative, bytes } of objects) {
    if (relative !== '' && !isWanted(relative)) continue;
    if (relative === '' || (relative.endsWith('/') && bytes === 0))
      skipped.add('folders without content', relative);
    else if (isBelow(relative, runs)) skipped.add('earlier runs', relative);
    else if (isLeftover(basename(relative))) skipped.add('system files', relative);
    else files.push(locate(folder, relative));
  }
  return files;
}

/** The folders of run directories. */
function findRuns(keys: readonly string[]): ReadonlySet<string> {
  const withLog = new Set<string>();
  for (const key of keys) {
    const end = `/${key}`.lastIndexOf(`/${RUN_FILES.log}/`);
    if (end >= 0) withLog.add(key.slice(0, end));
  }
  const ofRuns = keys.filter((key) => basename(key) === RUN_FILES.run);
  const folders = ofRuns.map((key) => key.slice(0, key.length - RUN_FILES.run.length));
  return new Set(folders.filter((folder) => withLog.has(folder)));
}

/** Whether a key is below one of the folders, which end in a slash. */
function isBelow(key: string, folders: ReadonlySet<string>): boolean {
  if (folders.size === 0) return false;
  if (folders.has('')) return true;
  for (let end = key.indexOf('/'); end >= 0; end = key.indexOf('/', end + 1)) {
    if (folders.has(key.slice(0, end + 1))) return true;
  }
  return false;
}

function locate(folder: string, relative: string): FoundName {
  return { absolute: encodePath(folder) + relative, relative, within: null };
}
