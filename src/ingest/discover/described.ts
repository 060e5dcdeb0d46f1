import pLimit from 'p-limit';
import type { SourceConfig } from '../../config/run-config.ts';
import { fileUnchanged } from '../sources/file-bytes.ts';
import { placeOfSource } from '../sources/file-place.ts';
import { FrozenSources } from '../sources/frozen-sources.ts';
import type { FrozenSource } from '../plan/plan-line.ts';
import { isJudgedMedia } from './sidecars.ts';

const LOOKS_AT_ONCE = 16;

/**
 * Decides for every source whether its caption in a manifest is judged with it; one that is not is judged with the
 * manifest's row. That is decided once: the file may become a picture, or none, before the manifest is read again, and
 * the manifest must have the same items on every reading.
 */
export async function decideDescribed(
  sources: readonly FrozenSource[],
  configs: readonly SourceConfig[],
  signal: AbortSignal,
): Promise<FrozenSource[]> {
  const frozen = new FrozenSources(sources, configs);
  const limit = pLimit(LOOKS_AT_ONCE);
  const decided: FrozenSource[] = [];
  // In bounded groups, so that an abort does not wait for a million files.
  for (let at = 0; at < sources.length; at += 1024) {
    signal.throwIfAborted();
    const looks: Promise<FrozenSource>[] = [];
    for (const source of sources.slice(at, at + 1024)) {
      const caption = (await captionOf(source, frozen, signal)) ?? null;
      looks.push(
        caption === null
          ? Promise.resolve(source)
          : limit(async () => ({ ...source, described: await isFrozenMedia(source) })),
      );
    }
    decided.push(...(await Promise.all(looks)));
  }
  return decided;
}

/** What a manifest that has items of its own says of a source; any other manifest is not read here. */
async function captionOf(
  source: FrozenSource,
  frozen: FrozenSources,
  signal: AbortSignal,
): Promise<string | null | undefined> {
  if (!frozen.isListedBySource(source)) return null;
  return (await frozen.manifestOf(source, signal))?.entry(source)?.caption;
}

/** Whether a file is media in the state it was frozen in: in any other it is not judged, whatever it is now. */
async function isFrozenMedia(source: FrozenSource): Promise<boolean> {
  return (await isJudgedMedia(placeOfSource(source))) && (await fileUnchanged(source));
}
