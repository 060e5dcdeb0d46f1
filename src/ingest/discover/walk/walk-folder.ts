import type { Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { encodePath, decodePath } from '../../../domain/file-path.ts';
import { isInside, readFolder, realPath } from '../../../files/open-inside.ts';
import { RUN_FILES } from '../../../files/run-files.ts';
import { isStoreDataFolder, STORE_FILES } from '../../../files/store-files.ts';
import type { FileLocation } from '../../sources/file-place.ts';
import { SkippedFiles, type SkipReason } from './skipped-files.ts';

/** One file found below a folder. All paths are encoded. */
interface FoundFile extends FileLocation {
  /** Below the folder, with `/`. */
  readonly relative: string;
  /** The real path of the link target; null for a file that is not a link. */
  readonly target: string | null;
  /** Whether it is a folder that cannot be listed. */
  readonly isFolder: boolean;
}

/** Role of a file in a walk: part of the corpus, next to it and possibly describing its files, or neither. */
export type FileRole = 'corpus' | 'beside' | null;

interface WalkOptions {
  /** Takes the path below the folder; default: every file is part of the corpus. */
  readonly roleOf?: (relative: string) => FileRole;
  /** Whether to descend into folders; default true. */
  readonly isDeep?: boolean;
}

/** The files that a walk found, in bytewise order of their paths. */
interface WalkResult {
  readonly files: FoundFile[];
  readonly beside: FoundFile[];
}

/** An entry that was not visited yet. */
interface Pending {
  readonly relative: string;
  /** Null for the root of the walk. */
  readonly entry: Entry | null;
}

/** Whether a file is an OS or program junk file, judging by its name. */
export function isLeftover(name: string): boolean {
  return /^(?:\.DS_Store|Thumbs\.db|desktop\.ini|~\$.*|\._.*)$/i.test(name);
}

/**
 * Lists the files below a folder. Skips whole run directories and verdict stores, OS junk files, and links that leave
 * the folder or form a cycle, and adds those that are part of the corpus to `skipped`. A folder that cannot be listed
 * is returned as a file: reading it reports the error. Throws only on abort.
 */
export async function walkFolder(
  folder: string,
  skipped: SkippedFiles,
  signal: AbortSignal,
  { roleOf = () => 'corpus', isDeep = true }: WalkOptions = {},
): Promise<WalkResult> {
  const files: FoundFile[] = [];
  const beside: FoundFile[] = [];
  const ignored = new SkippedFiles();
  const root = encodePath(folder);
  const realRoot = await realPath(root).catch(() => root);
  // An explicit stack, because folders may be nested deeper than recursion allows. The next entry is at the end.
  const pending: Pending[] = [{ relative: '', entry: null }];
  while (pending.length > 0) {
    signal.throwIfAborted();
    const { relative, entry } = pending.pop()!;
    const absolute = join(root, relative);
    if (entry === null || entry.kind.isDirectory()) {
      if (entry !== null && !isDeep) continue;
      const real = join(realRoot, relative);
      const entries = await list(real);
      if (entries === null) {
        files.push({ absolute, relative, within: root, target: null, isFolder: true });
        continue;
      }
      const below = relative === '' ? '' : `${relative}/`;
      const own = ownFolder(entries);
      if (own !== null) skipped.add(own, below);
      else
        for (const child of entries.reverse()) pending.push({ relative: below + child.name, entry: child });
      continue;
    }
    const role = roleOf(relative);
    if (role === null) continue;
    const [found, skips] = role === 'corpus' ? [files, skipped] : [beside, ignored];
    if (entry.kind.isFile()) {
      if (isLeftover(entry.name)) skips.add('system files', relative);
      else found.push({ absolute, relative, within: root, target: null, isFolder: false });
    } else if (entry.kind.isSymbolicLink()) {
      const target = await linkedFile(absolute, relative, realRoot, skips);
      if (target !== null) found.push({ absolute, relative, within: root, target, isFolder: false });
    } else {
      skips.add('devices and pipes', relative);
    }
  }
  return { files: withoutDuplicates(files, root, realRoot, skipped), beside };
}

/** Detects a run directory or a verdict store; null for any other folder. */
function ownFolder(entries: readonly Entry[]): SkipReason | null {
  const isThere = (test: (name: string) => boolean, kind: 'isFile' | 'isDirectory'): boolean =>
    entries.some((entry) => test(entry.name) && entry.kind[kind]());
  const isNamed = (wanted: string) => (name: string) => name === wanted;
  if (isThere(isNamed(RUN_FILES.run), 'isFile') && isThere(isNamed(RUN_FILES.log), 'isDirectory'))
    return 'earlier runs';
  const isStore = isThere(isNamed(STORE_FILES.marker), 'isFile') && isThere(isStoreDataFolder, 'isDirectory');
  return isStore ? 'verdict stores' : null;
}

/** An entry of a folder. */
interface Entry {
  /** An encoded path. */
  readonly name: string;
  readonly kind: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>;
}

/**
 * The entries of the folder at a real path, sorted so that the paths below them are in bytewise order; null if it
 * cannot be listed or was moved.
 */
async function list(real: string): Promise<Entry[] | null> {
  const entries = await readFolder(real).catch(() => null);
  if (entries === null) return null;
  const keyed = entries.map((kind) => ({
    entry: { name: encodePath(kind.name), kind },
    key: kind.isDirectory() ? Buffer.concat([kind.name, SLASH]) : kind.name,
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return keyed.map(({ entry }) => entry);
}

const SLASH = Buffer.from('/');

/** The real path of the file that a link points to. Null, and added to `skipped`, if it is not a file in the corpus. */
async function linkedFile(
  link: string,
  relative: string,
  realRoot: string,
  skipped: SkippedFiles,
): Promise<string | null> {
  try {
    const target = await realPath(link);
    if (!isInside(target, realRoot)) {
      skipped.add('links out of the corpus', relative);
      return null;
    }
    if ((await stat(decodePath(target))).isFile()) return target;
    // Files in a linked folder of the corpus are found in that folder.
    skipped.add('links within the corpus', relative);
  } catch {
    skipped.add('broken links', relative);
  }
  return null;
}

/** Removes links to files that were also found directly or by an earlier link. */
function withoutDuplicates(
  found: readonly FoundFile[],
  root: string,
  realRoot: string,
  skipped: SkippedFiles,
): FoundFile[] {
  if (found.every(({ target }) => target === null)) return [...found];
  const taken = new Set<string>();
  for (const { absolute, target } of found) {
    if (target === null) taken.add(realRoot + absolute.slice(root.length));
  }
  return found.filter(({ target, relative }) => {
    if (target === null) return true;
    const isDuplicate = taken.has(target);
    if (isDuplicate) skipped.add('links within the corpus', relative);
    taken.add(target);
    return !isDuplicate;
  });
}
