import type { FileHandle } from 'node:fs/promises';
import { basename } from 'node:path';
import { systemPath } from '../../domain/file-path.ts';
import { openFile } from '../../files/open-file.ts';
import { openInside } from '../../files/open-inside.ts';
import { placeInCorpus } from './corpus-roots.ts';
import type { FrozenSidecar, FrozenSource } from '../plan/plan-line.ts';

/** The path of a file, and the folder that it must be in. Paths are in the recorded form. */
export interface FilePlace {
  readonly absolute: string;
  /** The folder that links must not leave; null for a file that the user named, which may be a link to anywhere. */
  readonly within: string | null;
}

/** Opens an ordinary file. Rejects as `openInside` does, or `openFile` for a file that the user named. */
export function openPlace({ absolute, within }: FilePlace): Promise<FileHandle> {
  return within === null ? openFile(systemPath(absolute), 'follow') : openInside(absolute, within);
}

export function placeOfSource(source: Pick<FrozenSource, 'path' | 'absolute'>): FilePlace {
  const isNamed = placeInCorpus(source).path === '';
  return isNamed ? { absolute: source.absolute, within: null } : placeOfDescription(source);
}

/** The place of a sidecar or a manifest, which is inside the corpus or next to the named file. */
export function placeOfDescription({ path, absolute }: Pick<FrozenSidecar, 'path' | 'absolute'>): FilePlace {
  const below = placeInCorpus({ path }).path || basename(absolute);
  return { absolute, within: absolute.slice(0, absolute.length - below.length - 1) || '/' };
}
