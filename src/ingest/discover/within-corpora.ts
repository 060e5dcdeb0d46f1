import { dirname } from 'node:path';
import picomatch from 'picomatch';
import type { SourceConfig } from '../../config/run-config.ts';
import { recordedPath } from '../../domain/file-path.ts';
import { placeInCorpus } from '../sources/corpus-roots.ts';
import { globMatcher } from './glob-matcher.ts';
import { MANIFEST_NAMES } from '../recognise/manifest-table.ts';
import type { FrozenSource } from '../plan/plan-line.ts';
import { isSidecarName, stem } from './sidecars.ts';

/** Tells which path of a source lies outside its corpus. */
export class CorpusBounds {
  readonly #corpora: readonly Bounds[];

  constructor(corpora: readonly Pick<SourceConfig, 'path'>[]) {
    this.#corpora = corpora.map(boundsOf);
  }

  /**
   * The first path of a source that lies outside its corpus, in the recorded form; null when all of it lies within.
   * Within are the file that was named, and what is below a folder or matches a glob; also a text beside the source that
   * has its name, and the manifest of the same folder. `path` has to agree with `absolute`: it decides which links are
   * followed (`placeOfSource`).
   */
  pathOutside(source: FrozenSource): string | null {
    const { corpus, absolute, sidecar, manifest } = source;
    const bounds = this.#corpora[corpus];
    if (bounds === undefined || !isWithin(absolute, bounds) || !isNamedAsItLies(source, bounds))
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

/** Where files of a corpus may be, all paths in the recorded form. */
interface Bounds {
  readonly root: string;
  /** The folder that a glob begins at, with a slash, and what it matches below; null for a path that is none. */
  readonly glob: { readonly folder: string; readonly matches: (relative: string) => boolean } | null;
  readonly manifests: readonly string[];
}

function boundsOf({ path }: Pick<SourceConfig, 'path'>): Bounds {
  const { base, glob, isGlob } = picomatch.scan(path);
  const folders = [withSlash(dirname(path))];
  if (isGlob && glob !== '') folders.push(withSlash(base));
  return {
    root: recordedPath(path),
    glob: folders.length === 1 ? null : { folder: folders[1]!, matches: globMatcher(glob) },
    manifests: folders.flatMap((folder) => MANIFEST_NAMES.map((name) => folder + name)),
  };
}

function isWithin(path: string, { root, glob }: Bounds): boolean {
  if (path.split('/').some((part) => part === '..' || part === '.')) return false;
  if (path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)) return true;
  return glob !== null && path.startsWith(glob.folder) && glob.matches(path.slice(glob.folder.length));
}

/** Only of a file that was named does the path have no folder; it may be a link to anywhere. */
function isNamedAsItLies(source: FrozenSource, bounds: Bounds): boolean {
  if (placeInCorpus(source).path === '') return source.absolute === bounds.root;
  return agrees(source, bounds);
}

/** Whether the path below the corpus leads from the folder of the corpus to the file. */
function agrees(found: Pick<FrozenSource, 'path' | 'absolute'>, { root, glob }: Bounds): boolean {
  const below = placeInCorpus(found).path;
  if (below === '') return true;
  const folders = [root.endsWith('/') ? root : `${root}/`, ...(glob === null ? [] : [glob.folder])];
  return folders.some((folder) => found.absolute === folder + below);
}

function withSlash(folder: string): string {
  const recorded = recordedPath(folder);
  return recorded.endsWith('/') ? recorded : `${recorded}/`;
}
