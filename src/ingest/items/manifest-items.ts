import { itemError } from '../../domain/item-error.ts';
import type { Item } from '../../domain/item.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { settled } from '../../formats/transcripts/draft.ts';
import type { ItemMaker } from './item-maker.ts';
import type { ManifestTable } from '../recognise/manifest-table.ts';

/** A text is judged as it is. */
const AS_TEXT: RecordOptions = { textColumns: null, onlyTextColumn: null, audit: 'final' };

/** Items given at once. */
const BATCH = 256;

/**
 * The items of a manifest, which is about other files: each row that says nothing of any of them, and of the others
 * what is not judged with their files, as one text: other columns than path, id and caption, and a caption of a file that
 * was no medium when the run was created. A manifest that changed (null) is one item. Throws on abort.
 */
export function* manifestItems(
  manifest: ManifestTable | null,
  maker: ItemMaker,
  signal: AbortSignal,
): Generator<readonly Item[], void> {
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
      maker.add({ ...row.record, content: row.texts.join('\n\n'), error: null }, AS_TEXT, items);
    }
    if (items.length >= BATCH) {
      yield items;
      items = [];
    }
  }
  if (items.length > 0) yield items;
}
