import { basename } from 'node:path';
import { decodePath } from '../../domain/file-path.ts';
import type { MediaFile } from '../../domain/request.ts';
import { openFile } from '../../files/open-file.ts';
import { isObjectPath } from '../../domain/object-path.ts';
import { openInside } from '../../files/open-inside.ts';
import { ObjectFile } from '../objects/object-file.ts';
import { LocalFile, type SourceFile } from './source-file.ts';
import type { SidecarSnapshot, SourceSnapshot } from './sources-file.ts';

/** The name of a source's corpus and the path below it; the path is empty if the source is the corpus itself. */
export function placeInCorpus({ path }: Pick<SourceSnapshot, 'path'>): Pick<MediaFile, 'corpus' | 'path'> {
  const slash = path.indexOf('/');
  return slash < 0
    ? { corpus: path, path: '' }
    : { corpus: path.slice(0, slash), path: path.slice(slash + 1) };
}

/**
 * The id of a source's item: its path below its corpus, or its name if the user named the file. It does not depend on
 * how the corpus was given. Ids may repeat.
 */
export function idOfSource(source: Pick<SourceSnapshot, 'path' | 'absolute'>): string {
  return placeInCorpus(source).path || basename(source.absolute);
}

/** Corpus name to the absolute path of its folder, or of the file if the corpus is a single file. */
export function corpusRoots(sources: readonly SourceSnapshot[]): Map<string, string> {
  const roots = new Map<string, string>();
  for (const source of sources) {
    const { corpus, path } = placeInCorpus(source);
    if (roots.has(corpus)) continue;
    const { absolute } = source;
    const root = path === '' ? absolute : absolute.slice(0, absolute.length - path.length - 1) || '/';
    roots.set(corpus, decodePath(root).toString());
  }
  return roots;
}

/** The path of a file, and the folder that it must be in. Paths are encoded. */
export interface FileLocation {
  readonly absolute: string;
  /** The folder that links must not leave; null for a file that the user named, which may be a link to anywhere. */
  readonly within: string | null;
}

/**
 * Opens a regular file or an object. Rejects as `openInside` does, or `openFile` for a file that the user named, or
 * `ObjectFile.open`, whose requests end when `signal` aborts.
 */
export async function openPlace(
  { absolute, within }: FileLocation,
  signal: AbortSignal,
): Promise<SourceFile> {
  if (isObjectPath(absolute)) return ObjectFile.open(absolute, signal);
  return new LocalFile(
    await (within === null ? openFile(decodePath(absolute), 'follow') : openInside(absolute, within)),
  );
}

export function locateSource(source: Pick<SourceSnapshot, 'path' | 'absolute'>): FileLocation {
  const isNamed = placeInCorpus(source).path === '';
  return isNamed ? { absolute: source.absolute, within: null } : locateSidecar(source);
}

/** Location of a sidecar or a manifest, which is inside the corpus or next to the named file. */
export function locateSidecar({ path, absolute }: Pick<SidecarSnapshot, 'path' | 'absolute'>): FileLocation {
  const below = placeInCorpus({ path }).path || basename(absolute);
  return { absolute, within: absolute.slice(0, absolute.length - below.length - 1) || '/' };
}
