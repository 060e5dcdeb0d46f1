import { isMedia, type MediaFile } from '../../domain/request.ts';
import type { Shard } from '../../domain/shard.ts';
import type { Landmarks } from '../../queue/redis/shard-job.ts';
import type { CorpusFolders } from './corpus-folders.ts';

/** What this process lacks to judge a shard's media. */
export interface Unseen {
  readonly corpus: string;
  /** Whether the corpus is here, and only files of it are missing. */
  readonly isPartial: boolean;
}

/**
 * Looks for every media file of a shard; null when all are here with their sizes. A corpus is known to be here by its
 * landmark, or by any file of the shard. One that is not here at all is named before one that lacks files.
 */
export async function unseenMedia(
  { items }: Shard,
  landmarks: Landmarks,
  folders: CorpusFolders,
): Promise<Unseen | null> {
  const seen = new Map<string, { found: number; missing: number }>();
  for (const { request } of items) {
    if (request === null || !isMedia(request)) continue;
    const { file } = request;
    const counts = seen.get(file.corpus) ?? { found: 0, missing: 0 };
    seen.set(file.corpus, counts);
    if (await folders.has(file.corpus, file)) counts.found++;
    else counts.missing++;
  }
  let partial: Unseen | null = null;
  for (const [corpus, { found, missing }] of seen) {
    if (missing === 0) continue;
    const landmark: Pick<MediaFile, 'path' | 'bytes'> | undefined = landmarks[corpus];
    const isHere = found > 0 || (landmark !== undefined && (await folders.has(corpus, landmark)));
    if (!isHere) return { corpus, isPartial: false };
    partial ??= { corpus, isPartial: true };
  }
  return partial;
}
