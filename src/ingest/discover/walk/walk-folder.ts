import type { Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { recordedPath, systemPath } from '../../../domain/file-path.ts';
import { isInside, readFolder, realPath } from '../../../files/open-inside.ts';
import { RUN_FILES } from '../../../files/run-files.ts';
import type { FilePlace } from '../../sources/file-place.ts';
import { isLeftover } from './leftovers.ts';
import { isFileOfRun, runOfDirectory } from './run-directory.ts';
import { SkippedFiles, type SkipReason } from './skipped-files.ts';

/** One file found below a folder. All paths are in the recorded form. */
interface FoundFile extends FilePlace {
  /** Below the folder, with `/`. */
  readonly relative: string;
  /** The real path of what it links to; null for a file that is no link. */
  readonly target: string | null;
  /** A folder that cannot be listed. */
  readonly isFolder: boolean;
}

/** What a walk is after: files of the corpus, files beside them that may say something of them, or neither. */
export type Role = 'corpus' | 'beside' | null;

interface WalkOptions {
  /** By the path below the folder; default: every file is of the corpus. */
  readonly roleOf?: (relative: string) => Role;
  /** Whether to look into folders; default true. */
  readonly isDeep?: boolean;
}

/** What a walk found, each in bytewise order of the paths. */
interface Walked {
  readonly files: FoundFile[];
  readonly beside: FoundFile[];
}

/** What is still to be visited. */
interface Pending {
  readonly relative: string;
  /** Null for the folder itself that is walked. */
  readonly entry: Entry | null;
  /** The run directory it is in; null outside of any. */
  readonly run: RunDirectory | null;
}

interface RunDirectory {
  readonly run: string;
  /** How the relative paths of what is in it begin. */
  readonly prefix: string;
}

/**
 * The files below a folder. Passes over the files of earlier runs, leftovers, and links that lead out of the folder (or
 * in a circle), and notes them where they are of the corpus. A folder that cannot be listed is given as a file, so that
 * reading it tells. Throws only on abort.
 */
export async function walkFolder(
  folder: string,
  skipped: SkippedFiles,
  signal: AbortSignal,
  { roleOf = () => 'corpus', isDeep = true }: WalkOptions = {},
): Promise<Walked> {
  const files: FoundFile[] = [];
  const beside: FoundFile[] = [];
  const unnoted = new SkippedFiles();
  const root = recordedPath(folder);
  const realRoot = await realPath(root).catch(() => root);
  // An explicit stack, last first: folders nest as deep as the file system lets them.
  const pending: Pending[] = [{ relative: '', entry: null, run: null }];
  while (pending.length > 0) {
    signal.throwIfAborted();
    const { relative, entry, run } = pending.pop()!;
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
      const own = (await runDirectory(real, below, entries)) ?? run;
      for (const child of entries.reverse())
        pending.push({ relative: below + child.name, entry: child, run: own });
      continue;
    }
    const role = roleOf(relative);
    if (role === null) continue;
    const [found, notes] = role === 'corpus' ? [files, skipped] : [beside, unnoted];
    if (entry.kind.isFile()) {
      const reason = await reasonToSkip(join(realRoot, relative), relative, entry.name, run);
      if (reason !== null) notes.add(reason, relative);
      else found.push({ absolute, relative, within: root, target: null, isFolder: false });
    } else if (entry.kind.isSymbolicLink()) {
      const target = await linkedFile(absolute, relative, realRoot, notes);
      if (target !== null) found.push({ absolute, relative, within: root, target, isFolder: false });
    } else {
      notes.add('devices and pipes', relative);
    }
  }
  return { files: withoutDoubles(files, root, realRoot, skipped), beside };
}

async function reasonToSkip(
  real: string,
  relative: string,
  name: string,
  run: RunDirectory | null,
): Promise<SkipReason | null> {
  if (run !== null && (await isFileOfRun(real, relative.slice(run.prefix.length), run.run)))
    return 'files of earlier runs';
  return (await isLeftover(name, real)) ? 'system files' : null;
}

async function runDirectory(
  real: string,
  prefix: string,
  entries: readonly Entry[],
): Promise<RunDirectory | null> {
  if (!entries.some(({ name, kind }) => name === RUN_FILES.run && kind.isFile())) return null;
  const run = await runOfDirectory(real);
  return run === null ? null : { run, prefix };
}

/** What is in a folder under one name. */
interface Entry {
  /** In the recorded form. */
  readonly name: string;
  readonly kind: Pick<Dirent, 'isDirectory' | 'isFile' | 'isSymbolicLink'>;
}

/**
 * The entries of the folder at a real path, sorted so that the paths below them are in bytewise order; null when it has
 * none to give, or is somewhere else by now.
 */
async function list(real: string): Promise<Entry[] | null> {
  const entries = await readFolder(real).catch(() => null);
  if (entries === null) return null;
  const keyed = entries.map((kind) => ({
    entry: { name: recordedPath(kind.name), kind },
    key: kind.isDirectory() ? Buffer.concat([kind.name, SLASH]) : kind.name,
  }));
  keyed.sort((a, b) => Buffer.compare(a.key, b.key));
  return keyed.map(({ entry }) => entry);
}

const SLASH = Buffer.from('/');

/** The file that a link inside the corpus leads to; null, and counted, when it leads elsewhere. */
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
    if ((await stat(systemPath(target))).isFile()) return target;
    // What is in a folder of the corpus is found there.
    skipped.add('links within the corpus', relative);
  } catch {
    skipped.add('broken links', relative);
  }
  return null;
}

/** Leaves out links to files that were found anyway, or by another link. */
function withoutDoubles(
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
    const isDouble = taken.has(target);
    if (isDouble) skipped.add('links within the corpus', relative);
    taken.add(target);
    return !isDouble;
  });
}
