import { isMedia } from '../../domain/request.ts';
import type { Shard } from '../../domain/shard.ts';
import type { Landmarks } from '../jobs/shard-job.ts';
import type { CorpusFolders } from '../../moderate/media/corpus-folders.ts';

/** Media of a shard that this worker lacks. */
interface MissingMedia {
  readonly corpus: string;
  /** Whether the corpus is present and only some of its files are missing. */
  readonly isPartial: boolean;
}

/**
 * Looks for every media file of a shard; null when all are present with the planned sizes. A corpus counts as present when
 * its landmark or any file of the shard exists, whatever its content: the judge detects files that changed since they
 * were planned. An absent corpus takes precedence over one that lacks files.
 */
export async function missingMedia(
  { items }: Shard,
  landmarks: Landmarks,
  folders: CorpusFolders,
): Promise<MissingMedia | null> {
  const seen = new Map<string, { isPresent: boolean; isWhole: boolean }>();
  for (const { request } of items) {
    if (request === null || !isMedia(request)) continue;
    const { file } = request;
    const corpus = seen.get(file.corpus) ?? { isPresent: false, isWhole: true };
    seen.set(file.corpus, corpus);
    if (await folders.has(file)) {
      corpus.isPresent = true;
    } else {
      corpus.isWhole = false;
      corpus.isPresent ||= await folders.knows(file.corpus, file.path);
    }
  }
  let partial: MissingMedia | null = null;
  for (const [corpus, { isPresent, isWhole }] of seen) {
    if (isWhole) continue;
    const landmark = landmarks[corpus]?.path;
    if (!isPresent && (landmark === undefined || !(await folders.knows(corpus, landmark)))) {
      return { corpus, isPartial: false };
    }
    partial ??= { corpus, isPartial: true };
  }
  return partial;
}
