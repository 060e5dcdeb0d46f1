import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { isObjectPath, parseObjectPath } from '../../domain/object-path.ts';
import { openForAppending } from '../../files/create-file.ts';
import { findEnclosingRunDirectory } from '../../files/folders.ts';
import { type WithOrigin, usageError, quoteForMessage } from '../usage-error.ts';

/** Resolves folders to absolute paths. Failure('usage') for a path that is not a folder. */
export async function parseFolders(given: readonly WithOrigin<string>[], folder: string): Promise<string[]> {
  const paths: string[] = [];
  for (const { value, place } of given) {
    const path = resolve(folder, value);
    const found = await stat(path).catch(() => null);
    if (found?.isDirectory() !== true) throw usageError(place, `no such folder: ${quoteForMessage(value)}`);
    paths.push(path);
  }
  return paths;
}

/**
 * Resolves a folder that exists or can be created to its absolute path. Failure('usage') if its place is taken by
 * something else.
 */
export async function parseOutputFolder(
  { value, place }: WithOrigin<string>,
  folder: string,
): Promise<string> {
  if (value === '') throw usageError(place, 'the path is empty');
  const absolute = resolve(folder, value);
  // If the folder does not exist yet, its nearest existing ancestor must be a folder.
  for (let path = absolute; ; path = dirname(path)) {
    const found = await stat(path).catch(() => null);
    if (found === null && path !== dirname(path)) continue;
    if (found?.isDirectory() === true) return absolute;
    throw usageError(place, `${quoteForMessage(path)} is not a folder`);
  }
}

/**
 * Resolves folders of corpora on this machine or in object storage, given as `name=folder`, or as a folder with the
 * name of the corpus. Returns absolute paths by corpus name. Failure('usage') for a missing path, and for a name given
 * twice.
 */
export async function parseCorpusRoots(
  given: readonly WithOrigin<string>[],
  cwd: string,
): Promise<Map<string, string>> {
  const roots = new Map<string, string>();
  for (const { value, place } of given) {
    const [, named, folder = value] = /^([^/=]+)=(.+)$/.exec(value) ?? [];
    const isObject = isObjectPath(folder);
    const absolute = isObject
      ? checkObjectPath({ value: folder, place }).replace(/\/$/, '')
      : resolve(cwd, folder);
    const name = named ?? basename(absolute);
    if (!isObject && (await stat(absolute).catch(() => null)) === null) {
      throw usageError(place, `no such file or folder: ${quoteForMessage(folder)}`);
    }
    if (roots.has(name)) throw usageError(place, `the corpus ${quoteForMessage(name)} is given twice`);
    roots.set(name, absolute);
  }
  return roots;
}

/** Checks a path in object storage. Failure('usage') for one without a valid bucket. */
export function checkObjectPath({ value, place }: WithOrigin<string>): string {
  if (parseObjectPath(value) !== null) return value;
  throw usageError(
    place,
    `expected s3://bucket/prefix with the name of a bucket, found ${quoteForMessage(value)}`,
  );
}

/**
 * Resolves a file of chain heads to its absolute path. Creates the file, so an unwritable one is detected at the start.
 * Failure('usage') if it cannot be written or is in a run directory.
 */
export async function resolveHeadFile({ value, place }: WithOrigin<string>, folder: string): Promise<string> {
  const path = resolve(folder, value);
  const around = await findEnclosingRunDirectory(path);
  if (around !== null) {
    throw usageError(
      place,
      `${path} is in the run directory ${around}: keep heads where others cannot change them`,
    );
  }
  try {
    await (await openForAppending(path)).close();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const what =
      code === 'ENOENT' ? `there is no folder ${dirname(path)}` : `${path} cannot be written (${code})`;
    throw usageError(place, what, error);
  }
  return path;
}

/**
 * Resolves a program and its arguments. A program with a slash is relative to `folder`; one without is looked up in
 * PATH.
 */
export function resolveCommand([program, ...args]: readonly string[], folder: string): readonly string[] {
  return [program!.includes('/') ? resolve(folder, program!) : program!, ...args];
}
