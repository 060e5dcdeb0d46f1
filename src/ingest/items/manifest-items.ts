import { itemError } from '../../domain/item-error.ts';
import type { Item } from '../../domain/item.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { createFailedDraft } from '../../formats/transcripts/draft.ts';
import type { ItemMaker } from './item-maker.ts';
import type { RecordSelection } from './record-selection.ts';
import type { ManifestTable } from '../recognise/manifest-table.ts';

/** The text of a row is judged unchanged. */
const AS_TEXT: RecordOptions = {
  textColumns: null,
  foundColumns: [],
  audit: 'final',
  isChat: false,
  isWithoutText: false,
};

interface ManifestReading {
  /** Path of the manifest in outcome lines. */
  readonly path: string;
  /** What a trial judges; absent: everything. */
  readonly selection?: RecordSelection | undefined;
  readonly signal: AbortSignal;
}

/** Max items yielded at once. */
const BATCH = 256;

/**
 * The items of a manifest: one failed item per row that matches no file, and one text per row that contains text not
 * judged with its file. That is text in columns other than path, id and caption, and the caption of a file that was not
 * media when the run was created. A manifest that changed (null) is one failed item. Throws on abort.
 */
export function* manifestItems(
  manifest: ManifestTable | null,
  maker: ItemMaker,
  { path, selection, signal }: ManifestReading,
): Generator<readonly Item[], void> {
  if (manifest === null) {
    const error = itemError('SOURCE_CHANGED', 'the file changed after the run was created');
    const draft = { ...createFailedDraft('', null, error), modality: null };
    selection?.addUnreadable(1);
    yield [maker.wholeFile({ sha256: null, bytes: null, draft, id: null })];
    return;
  }
  let items: Item[] = [];
  for (const row of manifest.rows) {
    signal.throwIfAborted();
    if (selection?.take(path, row.record.row) === false) continue;
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
