import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { recordedPath, systemPath } from '../domain/file-path.ts';
import { SkipCounts } from './skip-counts.ts';

/** One file found below a folder. All paths are in the recorded form. */
export interface FoundFile {
  readonly absolute: string;
  /** Below the folder, with `/`. */
  readonly relative: string;
  /** The real path of what it links to; null for a file that is no link. */
  readonly target: string | null;
  /** A folder that cannot be listed. */
  readonly isFolder: boolean;
}

/** Files that systems and programs leave behind. */
const LEFTOVERS = /^(?:\.DS_Store|Thumbs\.db|~\$.*)$/;

/** Name of the file that makes a folder a run directory. */
const RUN_RECORD = 'run.json';

/** What run directories are counted as. */
export const RUN_DIRECTORIES = 'run directories';

/** What a walk is after: files of the corpus, files beside them that may say something of them, or neither. */
export type Role = 'corpus' | 'beside' | null;

export interface WalkOptions {
  /** By the path below the folder; default: every file is of the corpus. */
  readonly roleOf?: (relative: string) => Role;
  /** Whether to look into folders; default true. */
  readonly isDeep?: boolean;
}

/** What a walk found, each in bytewise order of the paths. */
export interface Walked {
  readonly files: FoundFile[];
  readonly beside: FoundFile[];
}

/**
 * The files below a folder. Passes over run directories, leftovers, and links that lead out of the folder (or in a
 * circle), and counts them where they are of the corpus. A folder that cannot be listed is given as a file, so that
 * reading it tells. Throws only on abort.
 */
export async function walkFolder(
  folder: string,
  skipped: SkipCounts,
  signal: AbortSignal,
  { roleOf = () => 'corpus', isDeep = true }: WalkOptions = {},
): Promise<Walked> {
  const files: FoundFile[] = [];
  const beside: FoundFile[] = [];
  const uncounted = new SkipCounts();
  const root = recordedPath(folder);
  const realRoot = await recordedRealPath(root).catch(() => root);
  // An explicit stack of what is still to be visited, last first: folders nest as deep as the file system lets them.
  const pending: { readonly relative: string; readonly entry: Entry | null }[] = [
    { relative: '', entry: null },
  ];
  while (pending.length > 0) {
    signal.throwIfAborted();
    const { relative, entry } = pending.pop()!;
    const absolute = join(root, relative);
    if (entry === null || entry.kind.isDirectory()) {
      if (entry !== null && !isDeep) continue;
      const entries = await list(absolute);
      if (entries === null) {
        files.push({ absolute, relative, target: null, isFolder: true });
      } else if (await isRunDirectory(absolute, entries)) {
        skipped.add(RUN_DIRECTORIES);
      } else {
        const below = relative === '' ? '' : `${relative}/`;
        for (const child of entries.reverse()) pending.push({ relative: below + child.name, entry: child });
      }
      continue;
    }
    const role = roleOf(relative);
    if (role === null) continue;
    const [found, counts] = role === 'corpus' ? [files, skipped] : [beside, uncounted];
    if (LEFTOVERS.test(entry.name)) {
      counts.add('system files');
    } else if (entry.kind.isFile()) {
      found.push({ absolute, relative, target: null, isFolder: false });
    } else if (entry.kind.isSymbolicLink()) {
      const target = await linkedFile(absolute, realRoot, counts);
      if (target !== null) found.push({ absolute, relative, target, isFolder: false });
    } else {
      counts.add('devices and pipes');
    }
  }
  return { files: withoutDoubles(files, root, realRoot, skipped), beside };
}

/** What is in a folder under one name. */
interface Entry {
  /** In the recorded form. */
  readonly name: string;
  readonly kind: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>;
}

/** The entries of a folder, sorted so that the paths below them are in bytewise order; null when it has none to give. */
async function list(folder: string): Promise<Entry[] | null> {
  const options = { withFileTypes: true, encoding: 'buffer' } as const;
  const entries = await readdir(systemPath(folder), options).catch(() => null);
  if (entries === null) return null;
  const keyed = entries.map((kind) => ({
    entry: { name: recordedPath(kind.name), kind },
    key: kind.isDirectory() ? Buffer.concat([kind.name, SLASH]) : kind.name,
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return keyed.map(({ entry }) => entry);
}

const SLASH = Buffer.from('/');

async function recordedRealPath(path: string): Promise<string> {
  return recordedPath(await realpath(systemPath(path), { encoding: 'buffer' }));
}

async function isRunDirectory(folder: string, entries: readonly Entry[]): Promise<boolean> {
  if (!entries.some(({ name, kind }) => name === RUN_RECORD && kind.isFile())) return false;
  try {
    const record: unknown = JSON.parse(await readFile(systemPath(join(folder, RUN_RECORD)), 'utf8'));
    return (record as { readonly tool?: { readonly name?: unknown } } | null)?.tool?.name === 'guardsweep';
  } catch {
    return false;
  }
}

/** The file that a link inside the corpus leads to; null, and counted, when it leads elsewhere. */
async function linkedFile(link: string, realRoot: string, skipped: SkipCounts): Promise<string | null> {
  try {
    const target = await recordedRealPath(link);
    const isInside =
      target === realRoot || target.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
    if (!isInside) {
      skipped.add('links out of the corpus');
      return null;
    }
    if ((await stat(systemPath(target))).isFile()) return target;
    // What is in a folder of the corpus is found there.
    skipped.add('links within the corpus');
  } catch {
    skipped.add('broken links');
  }
  return null;
}

/** Leaves out links to files that were found anyway, or by another link. */
function withoutDoubles(
  found: readonly FoundFile[],
  root: string,
  realRoot: string,
  skipped: SkipCounts,
): FoundFile[] {
  if (found.every(({ target }) => target === null)) return [...found];
  const taken = new Set<string>();
  for (const { absolute, target } of found) {
    if (target === null) taken.add(realRoot + absolute.slice(root.length));
  }
  return found.filter(({ target }) => {
    if (target === null) return true;
    const isDouble = taken.has(target);
    if (isDouble) skipped.add('links within the corpus');
    taken.add(target);
    return !isDouble;
  });
}
