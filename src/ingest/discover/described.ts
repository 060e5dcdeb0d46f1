import pLimit from 'p-limit';
import type { SourceConfig } from '../../config/run-config.ts';
import { fileUnchanged } from '../sources/file-bytes.ts';
import { placeOfSource } from '../sources/file-place.ts';
import { FrozenSources } from '../sources/frozen-sources.ts';
import type { FrozenSource } from '../plan/plan-line.ts';
import { isJudgedMedia } from './sidecars.ts';

const MAX_CONCURRENT_CHECKS = 16;

/**
 * Decides for every source whether its caption in a manifest is judged with the file or with the manifest's row. Decided
 * only once, because a manifest must always yield the same items, and a file may become an image, or stop being one,
 * before the manifest is read again.
 */
export async function decideDescribed(
  sources: readonly FrozenSource[],
  configs: readonly SourceConfig[],
  signal: AbortSignal,
): Promise<FrozenSource[]> {
  const frozen = new FrozenSources(sources, configs);
  const limit = pLimit(MAX_CONCURRENT_CHECKS);
  const decided: FrozenSource[] = [];
  // In bounded groups, so that an abort does not wait for a million files.
  for (let at = 0; at < sources.length; at += 1024) {
    signal.throwIfAborted();
    const group: Promise<FrozenSource>[] = [];
    for (const source of sources.slice(at, at + 1024)) {
      const caption = (await captionOf(source, frozen, signal)) ?? null;
      group.push(
        caption === null
          ? Promise.resolve(source)
          : limit(async () => ({ ...source, described: await isFrozenMedia(source) })),
      );
    }
    decided.push(...(await Promise.all(group)));
  }
  return decided;
}

/** The caption of a source in a manifest that is a source itself; other manifests are not read here. */
async function captionOf(
  source: FrozenSource,
  frozen: FrozenSources,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  if (!frozen.isListedBySource(source)) return null;
  return (await frozen.manifestOf(source, signal))?.entry(source)?.caption;
}

/** Whether a file is media and unchanged since it was frozen: a changed file is not judged anyway. */
async function isFrozenMedia(source: FrozenSource): Promise<boolean> {
  return (await isJudgedMedia(placeOfSource(source))) && (await fileUnchanged(source));
}
