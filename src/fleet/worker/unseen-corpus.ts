import { isMedia } from '../../domain/request.ts';
import type { Shard } from '../../domain/shard.ts';
import type { Landmarks } from '../jobs/shard-job.ts';
import type { CorpusFolders } from '../../moderate/media/corpus-folders.ts';

/** What this worker lacks to judge a shard's media. */
export interface Unseen {
  readonly corpus: string;
  /** Whether the corpus is here, and only files of it are missing. */
  readonly isPartial: boolean;
}

/**
 * Looks for every media file of a shard; null when all are here with their sizes. A corpus counts as here when its
 * landmark or any file of the shard exists, whatever their content: the judge finds out that files changed since they
 * were planned. A corpus that is not here at all takes precedence over one that lacks files.
 */
export async function unseenMedia(
  { items }: Shard,
  landmarks: Landmarks,
  folders: CorpusFolders,
): Promise<Unseen | null> {
  const seen = new Map<string, { isHere: boolean; isWhole: boolean }>();
  for (const { request } of items) {
    if (request === null || !isMedia(request)) continue;
    const { file } = request;
    const corpus = seen.get(file.corpus) ?? { isHere: false, isWhole: true };
    seen.set(file.corpus, corpus);
    if (await folders.has(file)) {
      corpus.isHere = true;
    } else {
      corpus.isWhole = false;
      corpus.isHere ||= await folders.knows(file.corpus, file.path);
    }
  }
  let partial: Unseen | null = null;
  for (const [corpus, { isHere, isWhole }] of seen) {
    if (isWhole) continue;
    const landmark = landmarks[corpus]?.path;
    if (!isHere && (landmark === undefined || !(await folders.knows(corpus, landmark)))) {
      return { corpus, isPartial: false };
    }
    partial ??= { corpus, isPartial: true };
  }
  return partial;
}
