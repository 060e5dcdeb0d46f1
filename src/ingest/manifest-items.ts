import { itemError } from '../domain/item-error.ts';
import type { Item } from '../domain/item.ts';
import type { RecordOptions } from '../formats/transcripts/draft-record.ts';
import { settled } from '../formats/transcripts/draft.ts';
import type { ItemMaker } from './item-maker.ts';
import type { ManifestRow, ManifestTable } from './manifest-table.ts';
import { isJudgedMedia } from './sidecars.ts';

/** A text is judged as it is. */
const AS_TEXT: RecordOptions = { textColumns: null, onlyTextColumn: null, audit: 'final' };

/** Items given at once. */
const BATCH = 256;

/**
 * The items of a manifest, which is about other files: each row that says nothing of any of them, and of the others
 * what is not judged with their files, as one text: other columns than path, id and caption, and a caption of a file that
 * is no medium. A manifest that changed (null) is one item. Throws on abort.
 */
export async function* manifestItems(
  manifest: ManifestTable | null,
  maker: ItemMaker,
  signal: AbortSignal,
): AsyncGenerator<readonly Item[], void> {
  if (manifest === null) {
    const error = itemError('SOURCE_CHANGED', 'the file changed after the run was created');
    const draft = { ...settled('', null, error), modality: null };
    yield [maker.wholeFile({ sha256: null, bytes: null, draft, id: null })];
    return;
  }
  let items: Item[] = [];
  for (const row of manifest.rows) {
    signal.throwIfAborted();
    if (row.error !== null) {
      items.push(maker.refused(row.record, row.error, null));
    } else {
      const text = await unjudgedText(row);
      const { row: number, line } = row.record;
      if (text !== '') maker.add({ row: number, line, content: text, error: null }, AS_TEXT, items);
    }
    if (items.length >= BATCH) {
      yield items;
      items = [];
    }
  }
  if (items.length > 0) yield items;
}

/** What a row holds that is not judged with the file that it is about. */
async function unjudgedText({
  about,
  caption,
  texts,
}: Extract<ManifestRow, { error: null }>): Promise<string> {
  const isDescribed = caption === null || (await isJudgedMedia(about));
  return [...(isDescribed ? [] : [caption]), ...texts].join('\n\n');
}
