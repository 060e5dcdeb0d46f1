import { isUtf8 } from 'node:buffer';
import type { SourceConfig } from '../../config/run-config.ts';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { isAsFrozen } from '../sources/file-bytes.ts';
import { placeOfDescription } from '../sources/file-place.ts';
import { encodingOf } from '../sources/named-file.ts';
import { OpenSource } from '../sources/open-source.ts';
import type { FrozenSidecar } from '../plan/plan-line.ts';

/** Max size of a caption or transcript in UTF-8 bytes: it travels with the item and is sent to the guard unsplit. */
const MAX_CAPTION_BYTES = 64 * 1024;

/** The caption; null if it is blank; an error if it is too long. */
export function checkedCaption(text: string): string | null | ItemError {
  if (!/\S/.test(text)) return null;
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_CAPTION_BYTES) return text;
  return itemError(
    'ITEM_TOO_LARGE',
    `the caption or transcript has ${bytes} bytes of at most ${MAX_CAPTION_BYTES}`,
  );
}

/** Reads the caption from the text file next to a media file. File system errors are thrown. */
export async function readSidecar(
  sidecar: FrozenSidecar,
  config: SourceConfig,
  signal: AbortSignal,
): Promise<string | null | ItemError> {
  const file = await OpenSource.open(placeOfDescription(sidecar), signal);
  try {
    if (!isAsFrozen(file.stats, sidecar)) {
      return itemError(
        'SOURCE_CHANGED',
        'the text file with the caption or transcript changed after the run was created',
      );
    }
    const { text, isComplete } = await file.head(encodingOf(config, false));
    if (!isComplete) {
      return itemError(
        'ITEM_TOO_LARGE',
        `the caption or transcript has more than ${MAX_CAPTION_BYTES} bytes`,
      );
    }
    if (!isUtf8(text)) {
      return itemError('INVALID_ENCODING', 'the caption or transcript holds bytes that are not text');
    }
    return checkedCaption(text.toString());
  } finally {
    await file.close();
  }
}
