import { stat } from 'node:fs/promises';
import { basename, sep } from 'node:path';
import pLimit from 'p-limit';
import picomatch from 'picomatch';
import type { SourceConfig } from '../config/run-config.ts';
import { Failure } from '../domain/failure.ts';
import { isManifest, LARGEST_MANIFEST_BYTES, MANIFEST_NAMES } from './manifest-table.ts';
import type { FileState, FrozenSidecar, FrozenSource } from './plan-line.ts';
import { takeSidecars } from './sidecars.ts';
import { SkipCounts } from './skip-counts.ts';
import { RUN_DIRECTORIES, walkFolder } from './walk-folder.ts';

/** What the corpora consist of. */
export interface Expansion {
  readonly sources: FrozenSource[];
  /** How much was passed over, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
}

/** One corpus, as its files were found. */
interface Corpus {
  /** Its own name, which the paths of its files begin with. */
  readonly name: string;
  readonly isNamedFile: boolean;
  readonly files: readonly FoundName[];
  /** By the path of a media file below the corpus, the text that describes it. */
  readonly sidecars: ReadonlyMap<string, FoundName>;
  /** Path below the corpus of the list of its files; null when it has none. */
  readonly manifest: string | null;
}

interface FoundName {
  readonly absolute: string;
  /** Below the corpus, with `/`. */
  readonly relative: string;
}

const STATS_AT_ONCE = 64;

/**
 * Expands files, folders and globs into files: the corpora in the order given, in each the files in bytewise order of
 * path. A file that two corpora hold is read once, as the one that names it says, else the first. Failure('usage')
 * for a path that does not exist, and for a folder or a glob with nothing in it.
 */
export async function expandSources(
  sources: readonly SourceConfig[],
  signal: AbortSignal,
): Promise<Expansion> {
  const skipped = new SkipCounts();
  const corpora: Corpus[] = [];
  for (const config of sources) corpora.push(await findFiles(config, skipped, signal));
  const owners = ownersOf(corpora);
  const names = uniqueNames(corpora.map(({ name }) => name));
  const limit = pLimit(STATS_AT_ONCE);
  const frozen: FrozenSource[] = [];
  for (const [corpus, { files, sidecars, manifest: list, isNamedFile }] of corpora.entries()) {
    const kept = files.filter(({ absolute }) => owners.get(absolute) === corpus);
    skipped.add('files given twice', files.length - kept.length);
    const first = frozen.length;
    const listAt = kept.findIndex(({ relative }) => relative === list);
    const manifest = listAt < 0 ? null : first + listAt;
    const nameOf = (relative: string): string =>
      isNamedFile ? names[corpus]! : `${names[corpus]}/${relative}`;
    const sidecarOf = async (relative: string): Promise<FrozenSidecar | null> => {
      const text = sidecars.get(relative);
      if (text === undefined) return null;
      const { absolute } = text;
      return { path: nameOf(text.relative), absolute, ...(await frozenStats(absolute)) };
    };
    skipped.add('captions and transcripts of media', new Set(sidecars.values()).size);
    // In bounded groups, so that an abort does not wait for a million files.
    for (let at = 0; at < kept.length; at += 1024) {
      signal.throwIfAborted();
      const group = kept.slice(at, at + 1024).map(({ absolute, relative }, index) =>
        limit(async (): Promise<FrozenSource> => {
          const stats = await frozenStats(absolute);
          const sidecar = await sidecarOf(relative);
          const source = first + at + index;
          return { source, corpus, path: nameOf(relative), absolute, ...stats, sidecar, manifest };
        }),
      );
      frozen.push(...(await Promise.all(group)));
    }
  }
  return { sources: frozen, skipped: skipped.toRecord() };
}

async function findFiles(config: SourceConfig, skipped: SkipCounts, signal: AbortSignal): Promise<Corpus> {
  const stats = await stat(config.path).catch(() => null);
  if (stats === null) return findByGlob(config, skipped, signal);
  if (stats.isDirectory()) {
    const runsBefore = skipped.count(RUN_DIRECTORIES);
    const found = await walkFolder(config.path, skipped, signal);
    const { files, sidecars } = await takeSidecars(found, signal);
    if (files.length === 0) {
      const why =
        skipped.count(RUN_DIRECTORIES) > runsBefore ? ' but run directories, which are skipped' : '';
      throw new Failure('usage', `there are no files in ${JSON.stringify(config.given)}${why}`);
    }
    const manifest = await findManifest(files, config, signal);
    return { name: basename(config.path) || 'root', isNamedFile: false, files, sidecars, manifest };
  }
  if (!stats.isFile()) {
    throw new Failure('usage', `${JSON.stringify(config.given)} is neither a file nor a folder`);
  }
  const name = basename(config.path);
  const files = [{ absolute: config.path, relative: name }];
  return { name, isNamedFile: true, files, sidecars: new Map(), manifest: null };
}

async function findByGlob(config: SourceConfig, skipped: SkipCounts, signal: AbortSignal): Promise<Corpus> {
  const pattern = sep === '/' ? config.path : config.path.replaceAll(sep, '/');
  const { base, glob, isGlob } = picomatch.scan(pattern);
  const folder = base === '' ? '/' : base;
  if (!isGlob || glob === '' || (await stat(folder).catch(() => null)) === null) {
    throw new Failure('usage', `no such file or folder: ${JSON.stringify(config.given)}`);
  }
  const found = await walkFolder(folder, skipped, signal, picomatch(glob));
  const { files, sidecars } = await takeSidecars(found, signal);
  if (files.every(({ isFolder }) => isFolder)) {
    const why = files.length > 0 ? ` as far as folders can be listed; ${files.length} cannot be` : '';
    throw new Failure('usage', `nothing matches ${JSON.stringify(config.given)}${why}`);
  }
  const manifest = await findManifest(files, config, signal);
  return { name: basename(folder) || 'root', isNamedFile: false, files, sidecars, manifest };
}

/**
 * The list of its files that a corpus brings with it. Failure('usage') for one that is too large to be held while the
 * corpus is read.
 */
async function findManifest(
  files: readonly FoundName[],
  config: SourceConfig,
  signal: AbortSignal,
): Promise<string | null> {
  for (const name of MANIFEST_NAMES) {
    const file = files.find(({ relative }) => relative === name);
    if (file === undefined || !(await isManifest(file, config, signal))) continue;
    const { bytes } = await frozenStats(file.absolute);
    if (bytes <= LARGEST_MANIFEST_BYTES) return name;
    throw new Failure(
      'usage',
      `${name} in ${JSON.stringify(config.given)} is larger than ${LARGEST_MANIFEST_BYTES} bytes: divide the corpus`,
    );
  }
  return null;
}

/** For each file, the corpus it is read in. */
function ownersOf(corpora: readonly Corpus[]): Map<string, number> {
  const owners = new Map<string, number>();
  for (const namedOnly of [true, false]) {
    for (const [index, { isNamedFile, files }] of corpora.entries()) {
      if (isNamedFile !== namedOnly) continue;
      for (const { absolute } of files) if (!owners.has(absolute)) owners.set(absolute, index);
    }
  }
  return owners;
}

/** The names, with a number behind those that are taken already. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let number = 2; taken.has(unique); number++) unique = `${name} (${number})`;
    taken.add(unique);
    return unique;
  });
}

/** What a file is recognised by later. One that cannot be looked at cannot be read either, and reading it will say so. */
async function frozenStats(path: string): Promise<FileState> {
  try {
    const stats = await stat(path);
    return { bytes: stats.size, mtime_ms: stats.mtimeMs, inode: stats.ino };
  } catch {
    return { bytes: 0, mtime_ms: 0, inode: 0 };
  }
}

/** Whether a source is a file the user named, rather than one found in a folder or by a glob. */
export function isNamedFile(source: FrozenSource, config: SourceConfig): boolean {
  return config.path === source.absolute;
}
