import { dirname } from 'node:path';
import picomatch from 'picomatch';
import type { SourceConfig } from '../../config/run-config.ts';
import { encodePath } from '../../domain/file-path.ts';
import { isObjectPath } from '../../domain/object-path.ts';
import { placeInCorpus } from '../sources/file-place.ts';
import { MANIFEST_NAMES } from '../recognise/manifest-table.ts';
import type { SourceSnapshot } from '../sources/sources-file.ts';
import { isSidecarName, stem } from './sidecars.ts';

/**
 * Returns a function that matches paths below the fixed part of a glob. Names that begin with a dot match like others,
 * as in folders: a name must not prevent a file from being judged.
 */
export function globMatcher(glob: string): (relative: string) => boolean {
  const matches = picomatch(glob, { dot: true });
  return (relative) => matches(relative);
}

/** Like `globMatcher`, for the glob of settings: without a slash, it matches names in any folder. */
export function fileMatcher(glob: string): (relative: string) => boolean {
  const matches = picomatch(glob, { dot: true, basename: !glob.includes('/') });
  return (relative) => matches(relative);
}

/** Finds paths of sources that are outside their corpora. */
export class CorpusBounds {
  readonly #corpora: readonly Bounds[];

  constructor(corpora: readonly Pick<SourceConfig, 'path'>[]) {
    this.#corpora = corpora.map(boundsOf);
  }

  /**
   * The first path of a source that is outside its corpus, encoded; null if there is none. Inside are the named file,
   * everything below a folder, everything that matches a glob, sidecars next to the source, and the manifest of the
   * same folder. `path` must also match `absolute`, because it decides which links are followed (`locateSource`).
   */
  pathOutside(source: SourceSnapshot): string | null {
    const { corpus, absolute, sidecar, manifest } = source;
    const bounds = this.#corpora[corpus];
    if (bounds === undefined || !isWithin(absolute, bounds) || !hasMatchingPath(source, bounds))
      return absolute;
    if (sidecar !== null) {
      const describes = isSidecarName(sidecar.absolute) && stem(sidecar.absolute) === stem(absolute);
      const within = describes || isWithin(sidecar.absolute, bounds);
      if (!within || !agrees(sidecar, bounds)) return sidecar.absolute;
    }
    if (manifest !== null && typeof manifest === 'object') {
      const within = bounds.manifests.includes(manifest.absolute) || isWithin(manifest.absolute, bounds);
      if (!within || !agrees(manifest, bounds)) return manifest.absolute;
    }
    return null;
  }
}

/** Allowed locations of a corpus's files; all paths are encoded. */
interface Bounds {
  readonly root: string;
  /**
   * The fixed folder of a glob, with a slash at the end, and the matcher for paths below it; null if it is not a glob.
   */
  readonly glob: { readonly folder: string; readonly matches: (relative: string) => boolean } | null;
  readonly manifests: readonly string[];
}

function boundsOf({ path }: Pick<SourceConfig, 'path'>): Bounds {
  const { base, glob, isGlob } = picomatch.scan(path);
  const folders = [withSlash(dirname(path))];
  if (isGlob && glob !== '') folders.push(withSlash(base));
  return {
    root: encodePath(path),
    glob: folders.length === 1 ? null : { folder: folders[1]!, matches: globMatcher(glob) },
    manifests: folders.flatMap((folder) => MANIFEST_NAMES.map((name) => folder + name)),
  };
}

function isWithin(path: string, { root, glob }: Bounds): boolean {
  // In a key, these are ordinary characters.
  if (!isObjectPath(root) && path.split('/').some((part) => part === '..' || part === '.')) return false;
  if (path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)) return true;
  return glob !== null && path.startsWith(glob.folder) && glob.matches(path.slice(glob.folder.length));
}

/**
 * Whether `path` matches `absolute`. A path without folders is valid only for a named file, which may link anywhere.
 */
function hasMatchingPath(source: SourceSnapshot, bounds: Bounds): boolean {
  if (placeInCorpus(source).path === '') return source.absolute === bounds.root;
  return agrees(source, bounds);
}

/** Whether the folder of the corpus and the path below it make up the absolute path. */
function agrees(found: Pick<SourceSnapshot, 'path' | 'absolute'>, { root, glob }: Bounds): boolean {
  const below = placeInCorpus(found).path;
  if (below === '') return true;
  const folders = [root.endsWith('/') ? root : `${root}/`, ...(glob === null ? [] : [glob.folder])];
  return folders.some((folder) => found.absolute === folder + below);
}

function withSlash(folder: string): string {
  const recorded = encodePath(folder);
  return recorded.endsWith('/') ? recorded : `${recorded}/`;
}
