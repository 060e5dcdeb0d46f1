import { systemPath } from '../../domain/file-path.ts';
import type { MediaFile } from '../../domain/request.ts';
import type { FrozenSource } from '../plan/plan-line.ts';

/** Where in its corpus a source is: the corpus's own name, and the path below it; empty when it is the corpus itself. */
export function placeInCorpus({ path }: Pick<FrozenSource, 'path'>): Pick<MediaFile, 'corpus' | 'path'> {
  const slash = path.indexOf('/');
  return slash < 0
    ? { corpus: path, path: '' }
    : { corpus: path.slice(0, slash), path: path.slice(slash + 1) };
}

/** For each corpus by name, the absolute folder its files are below; of a corpus that is one file, that file. */
export function corpusRoots(sources: readonly FrozenSource[]): Map<string, string> {
  const roots = new Map<string, string>();
  for (const source of sources) {
    const { corpus, path } = placeInCorpus(source);
    if (roots.has(corpus)) continue;
    const { absolute } = source;
    const root = path === '' ? absolute : absolute.slice(0, absolute.length - path.length - 1) || '/';
    roots.set(corpus, systemPath(root).toString());
  }
  return roots;
}

/** For each corpus by name, its first file: whoever finds it under a folder has the corpus there. */
export function landmarksOf(
  sources: readonly FrozenSource[],
): Readonly<Record<string, Pick<MediaFile, 'path' | 'bytes'>>> {
  const found = new Map<string, Pick<MediaFile, 'path' | 'bytes'>>();
  for (const source of sources) {
    const { corpus, path } = placeInCorpus(source);
    if (!found.has(corpus)) found.set(corpus, { path, bytes: source.bytes });
  }
  return Object.fromEntries(found);
}
