import { isMedia, type MediaFile } from '../../domain/request.ts';
import type { Shard } from '../../domain/shard.ts';
import type { Landmarks } from '../../queue/redis/shard-job.ts';
import type { CorpusFolders } from './corpus-folders.ts';

/**
 * A corpus that a shard's media are in and that this process does not have; null when it has them all. A corpus is
 * known to be there by its landmark, or by any file of the shard.
 */
export async function unseenCorpus(
  { items }: Shard,
  landmarks: Landmarks,
  folders: CorpusFolders,
): Promise<string | null> {
  const files = new Map<string, Pick<MediaFile, 'path' | 'bytes'>[]>();
  for (const { request } of items) {
    if (request === null || !isMedia(request)) continue;
    const { corpus } = request.file;
    const landmark = landmarks[corpus];
    const candidates = files.get(corpus) ?? (landmark === undefined ? [] : [landmark]);
    candidates.push(request.file);
    files.set(corpus, candidates);
  }
  for (const [corpus, candidates] of files) if (!(await folders.has(corpus, candidates))) return corpus;
  return null;
}
