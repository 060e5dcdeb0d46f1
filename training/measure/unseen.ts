import { readCorpus, readExtra, type LabelledText } from '../corpora/corpus.ts';
import { readPlainWords, type PlainWords } from './plain-words.ts';

/** What no training has seen. */
export interface Unseen {
  readonly dev: readonly LabelledText[];
  readonly unspecified: readonly LabelledText[];
  /** The held-back part of the additional prose. */
  readonly prose: readonly LabelledText[];
  readonly plainWords: PlainWords;
}

/** Reads it from the folder of the corpora, and the plain words from the project. */
export async function readUnseen(folder: string): Promise<Unseen> {
  const [dev, unspecified, { held }, plainWords] = await Promise.all([
    readCorpus(folder, 'dev'),
    readCorpus(folder, 'unsafe_unspecified'),
    readExtra(folder),
    readPlainWords(),
  ]);
  return { dev, unspecified, prose: held, plainWords };
}
