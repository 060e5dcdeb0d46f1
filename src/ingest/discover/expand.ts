import { stat } from 'node:fs/promises';
import { basename, dirname, sep } from 'node:path';
import pLimit from 'p-limit';
import picomatch from 'picomatch';
import type { SourceConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { encodePath } from '../../domain/file-path.ts';
import { isObjectPath } from '../../domain/object-path.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { plural } from '../../domain/text/plural.ts';
import type { SidecarSnapshot, SourceSnapshot } from '../sources/sources-file.ts';
import { MANIFEST_NAMES } from '../recognise/manifest-table.ts';
import { snapshotFile } from '../sources/file-bytes.ts';
import { describesOthers, findManifest, type FoundName, Neighbours } from './neighbours.ts';
import { findObjects } from './find-objects.ts';
import { takeSidecars } from './sidecars.ts';
import { type SkippedFile, SkippedFiles } from './walk/skipped-files.ts';
import { type FileRole, walkFolder } from './walk/walk-folder.ts';
import { fileMatcher, globMatcher } from './within-corpora.ts';

/** The files of all corpora. */
interface Expansion {
  readonly sources: SourceSnapshot[];
  /** Number of skipped files by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  /** The skipped files that are not in sources.jsonl. */
  readonly skippedFiles: Iterable<SkippedFile>;
  /** Globs whose settings apply to no file. */
  readonly unusedGlobs: readonly string[];
}

/** One corpus and the files found in it. */
interface Corpus {
  /** Its own name: the first component of the paths of its files. */
  readonly name: string;
  readonly isNamedFile: boolean;
  readonly files: readonly FoundName[];
  /** Path of a media file below the corpus to the text file that describes it. */
  readonly sidecars: ReadonlyMap<string, FoundName>;
  /** The manifest of its files, which may or may not be one of them; null if there is none. */
  readonly manifest: FoundName | null;
}

const MAX_CONCURRENT_STATS = 64;

/**
 * Expands files, folders and globs into files: the corpora in the given order, and the files of each in bytewise order
 * of their paths. Each file gets the last glob of its corpus's settings that it matches. A file in two corpora belongs
 * to the one that names the file, otherwise to the first. Sidecars and manifests are looked for next to a file however
 * it was found, so its item is always the same. Failure('usage') for a path that does not exist, and for a folder or a
 * glob without files.
 */
export async function expandSources(
  sources: readonly SourceConfig[],
  signal: AbortSignal,
): Promise<Expansion> {
  const skipped = new SkippedFiles();
  const neighbours = new Neighbours();
  const corpora: Corpus[] = [];
  for (const [corpus, config] of sources.entries()) {
    skipped.enter(corpus);
    corpora.push(await findFiles(config, skipped, neighbours, signal));
  }
  const owners = ownersOf(corpora);
  const names = uniqueNames(corpora.map(({ name }) => encodePath(name)));
  const limit = pLimit(MAX_CONCURRENT_STATS);
  const snapshots: SourceSnapshot[] = [];
  const unused = new Set(sources.flatMap((config) => config.for?.map((each) => each.files) ?? []));
  for (const [corpus, { files, sidecars, manifest: list, isNamedFile }] of corpora.entries()) {
    const kept = files.filter(({ absolute }) => owners.get(absolute) === corpus);
    skipped.addListed('files given twice', files.length - kept.length);
    const first = snapshots.length;
    const nameOf = (relative: string): string => {
      if (!isNamedFile) return `${names[corpus]}/${relative}`;
      return relative === files[0]!.relative ? names[corpus]! : relative;
    };
    const freeze = async ({ absolute, relative }: FoundName): Promise<SidecarSnapshot> => {
      return { path: nameOf(relative), absolute, ...(await snapshotFile(absolute, signal)) };
    };
    const listAt = list === null ? -1 : kept.findIndex(({ absolute }) => absolute === list.absolute);
    const manifest = listAt >= 0 ? first + listAt : list === null ? null : await freeze(list);
    const globs = sources[corpus]!.for?.map((each) => each.files) ?? [];
    const matchers = globs.map(fileMatcher);
    const settingsOf = ({ relative }: FoundName): Pick<SourceSnapshot, 'settings'> => {
      const settings = matchers.findLastIndex((matches) => matches(relative));
      if (settings < 0) return {};
      unused.delete(globs[settings]!);
      return { settings };
    };
    // In bounded groups: an abort must not wait for a million files.
    for (let at = 0; at < kept.length; at += 1024) {
      signal.throwIfAborted();
      const group = kept.slice(at, at + 1024).map((file, index) =>
        limit(async (): Promise<SourceSnapshot> => {
          const text = sidecars.get(file.relative);
          const sidecar = text === undefined ? null : await freeze(text);
          return {
            source: first + at + index,
            corpus,
            ...settingsOf(file),
            ...(await freeze(file)),
            sidecar,
            manifest,
          };
        }),
      );
      snapshots.push(...(await Promise.all(group)));
    }
  }
  skipped.addListed('captions and transcripts of media', countDescriptions(snapshots));
  return {
    sources: snapshots,
    skipped: skipped.counts(),
    skippedFiles: skipped.files(names),
    unusedGlobs: [...unused],
  };
}

/**
 * Notice about a glob without files. It may be mistyped, or its files may not have arrived today, so the run begins.
 */
export function unusedGlobNotice(glob: string): string {
  return `no file is read by the settings for ${quoteName(glob)}: it matches none, or a later glob matches the same`;
}

/** Number of text files that describe media and are not sources themselves. */
function countDescriptions(sources: readonly SourceSnapshot[]): number {
  const texts = new Set<string>();
  for (const { sidecar } of sources) if (sidecar !== null) texts.add(sidecar.absolute);
  for (const { absolute } of sources) texts.delete(absolute);
  return texts.size;
}

async function findFiles(
  config: SourceConfig,
  skipped: SkippedFiles,
  neighbours: Neighbours,
  signal: AbortSignal,
): Promise<Corpus> {
  if (isObjectPath(config.path)) {
    const { files: found, beside, ...corpus } = await findObjects(config, skipped, signal);
    const { files, sidecars } = await takeSidecars(found, beside, signal);
    const isManifest = corpus.isNamedFile && MANIFEST_NAMES.includes(corpus.name);
    const manifest = isManifest ? null : await findManifest([...files, ...beside], config, signal);
    return { ...corpus, files, sidecars, manifest };
  }
  const stats = await stat(config.path).catch(() => null);
  if (stats === null) return findByGlob(config, skipped, signal);
  if (stats.isDirectory()) {
    const runsBefore = skipped.count('earlier runs');
    const found = await walkFolder(config.path, skipped, signal);
    const { files, sidecars } = await takeSidecars(found.files, [], signal);
    if (files.length === 0) {
      const why =
        skipped.count('earlier runs') > runsBefore ? ' but those of earlier runs, which are skipped' : '';
      throw new Failure('usage', `there are no files in ${JSON.stringify(config.given)}${why}`);
    }
    const manifest = await findManifest(files, config, signal);
    return { name: basename(config.path) || 'root', isNamedFile: false, files, sidecars, manifest };
  }
  if (!stats.isFile()) {
    throw new Failure('usage', `${JSON.stringify(config.given)} is neither a file nor a folder`);
  }
  return findNamedFile(config, neighbours, signal);
}

/** A named file is always a source. Its sidecar and manifest are looked for next to it. */
async function findNamedFile(
  config: SourceConfig,
  neighbours: Neighbours,
  signal: AbortSignal,
): Promise<Corpus> {
  const name = basename(config.path);
  const file = { absolute: encodePath(config.path), relative: encodePath(name), within: null };
  const beside = await neighbours.describing(file, dirname(config.path), signal);
  const { files, sidecars } = await takeSidecars([file], beside, signal);
  const manifest = MANIFEST_NAMES.includes(name) ? null : await neighbours.manifestFor(config, signal);
  return { name, isNamedFile: true, files, sidecars, manifest };
}

async function findByGlob(config: SourceConfig, skipped: SkippedFiles, signal: AbortSignal): Promise<Corpus> {
  const pattern = sep === '/' ? config.path : config.path.replaceAll(sep, '/');
  const { base, glob, isGlob } = picomatch.scan(pattern);
  const folder = base === '' ? '/' : base;
  if (!isGlob || glob === '' || (await stat(folder).catch(() => null)) === null) {
    throw new Failure('usage', `no such file or folder: ${JSON.stringify(config.given)}`);
  }
  const matches = globMatcher(glob);
  const roleOf = (relative: string): FileRole =>
    matches(relative) ? 'corpus' : describesOthers(relative) ? 'beside' : null;
  const found = await walkFolder(folder, skipped, signal, { roleOf });
  const { files, sidecars } = await takeSidecars(found.files, found.beside, signal);
  if (files.every(({ isFolder }) => isFolder)) {
    const count = files.length;
    const why = count > 0 ? `; ${count} ${plural(count, 'folder')} cannot be listed` : '';
    throw new Failure('usage', `nothing matches ${JSON.stringify(config.given)}${why}`);
  }
  const manifest = await findManifest([...files, ...found.beside], config, signal);
  return { name: basename(folder) || 'root', isNamedFile: false, files, sidecars, manifest };
}

/** Absolute path of a file to the index of the corpus that it belongs to. */
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

/** The names, with a number appended to duplicates. */
function uniqueNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let unique = name;
    for (let number = 2; taken.has(unique); number++) unique = `${name} (${number})`;
    taken.add(unique);
    return unique;
  });
}
