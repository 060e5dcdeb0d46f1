import type { Dirent } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { SkipCounts } from './skip-counts.ts';

/** One file found below a folder. */
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

/**
 * The files below a folder that `matches` accepts, in bytewise order of their paths. Passes over run directories, leftovers, and links that
 * lead out of the folder (or in a circle), and counts them. A folder that cannot be listed is given as a file, so that
 * reading it tells. Throws only on abort.
 */
export async function walkFolder(
  root: string,
  skipped: SkipCounts,
  signal: AbortSignal,
  matches: (relative: string) => boolean = () => true,
): Promise<FoundFile[]> {
  const found: FoundFile[] = [];
  const realRoot = await realpath(root).catch(() => root);
  // An explicit stack of what is still to be visited, last first: folders nest as deep as the file system lets them.
  const pending: { readonly relative: string; readonly entry: Dirent | null }[] = [
    { relative: '', entry: null },
  ];
  while (pending.length > 0) {
    signal.throwIfAborted();
    const { relative, entry } = pending.pop()!;
    const absolute = join(root, relative);
    if (entry === null || entry.isDirectory()) {
      const entries = await list(absolute);
      if (entries === null) {
        found.push({ absolute, relative, target: null, isFolder: true });
      } else if (await isRunDirectory(absolute, entries)) {
        skipped.add(RUN_DIRECTORIES);
      } else {
        const below = relative === '' ? '' : `${relative}/`;
        for (const child of entries.reverse()) pending.push({ relative: below + child.name, entry: child });
      }
    } else if (!matches(relative)) {
      continue;
    } else if (LEFTOVERS.test(entry.name)) {
      skipped.add('system files');
    } else if (entry.isFile()) {
      found.push({ absolute, relative, target: null, isFolder: false });
    } else if (entry.isSymbolicLink()) {
      const target = await linkedFile(absolute, realRoot, skipped);
      if (target !== null) found.push({ absolute, relative, target, isFolder: false });
    } else {
      skipped.add('devices and pipes');
    }
  }
  return withoutDoubles(found, root, realRoot, skipped);
}

/** The entries of a folder, sorted so that the paths below them are in bytewise order; null when it has none to give. */
async function list(folder: string): Promise<Dirent[] | null> {
  let entries: Dirent[];
  try {
    entries = await readdir(folder, { withFileTypes: true });
  } catch {
    return null;
  }
  const keyed = entries.map((entry) => ({
    entry,
    key: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name),
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return keyed.map(({ entry }) => entry);
}

async function isRunDirectory(folder: string, entries: readonly Dirent[]): Promise<boolean> {
  if (!entries.some((entry) => entry.name === RUN_RECORD && entry.isFile())) return false;
  try {
    const record: unknown = JSON.parse(await readFile(join(folder, RUN_RECORD), 'utf8'));
    return (record as { readonly tool?: { readonly name?: unknown } } | null)?.tool?.name === 'guardsweep';
  } catch {
    return false;
  }
}

/** The file that a link inside the corpus leads to; null, and counted, when it leads elsewhere. */
async function linkedFile(link: string, realRoot: string, skipped: SkipCounts): Promise<string | null> {
  try {
    const target = await realpath(link);
    const isInside =
      target === realRoot || target.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep);
    if (!isInside) {
      skipped.add('links out of the corpus');
      return null;
    }
    if ((await stat(target)).isFile()) return target;
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
