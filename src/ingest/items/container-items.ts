import type { SourceConfig } from '../../config/run-config.ts';
import { errorWithReason, itemError, type ItemError } from '../../domain/item-error.ts';
import type { Item } from '../../domain/item.ts';
import { recordBytesLimit } from '../../formats/record.ts';
import {
  type Draft,
  createFailedDraft,
  createPromptDraft,
  nestInPart,
  rejectEncoded,
} from '../../formats/transcripts/draft.ts';
import { draftRecord } from '../../formats/transcripts/draft-record.ts';
import type { Container } from '../../formats/unpack/container-kind.ts';
import { MAX_PART_BYTES, type UnpackedPart, type UnpackLimits } from '../../formats/unpack/messages.ts';
import { unpack } from '../../formats/unpack/unpack.ts';
import { examine, examineTable, readerFor, type Examination } from '../recognise/examine.ts';
import { MemorySource } from '../sources/memory-source.ts';
import type { OpenSource, SourceHead } from '../sources/open-source.ts';
import { readRecords } from '../sources/read-records.ts';
import type { SourceSnapshot } from '../sources/sources-file.ts';
import type { ItemMaker } from './item-maker.ts';
import type { RecordSelection } from './record-selection.ts';
import { textDraft } from './whole-file-item.ts';

interface Holding {
  readonly source: SourceSnapshot;
  readonly config: SourceConfig;
  readonly maker: ItemMaker;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  readonly unpack: UnpackLimits;
  readonly selection?: RecordSelection | undefined;
  readonly signal: AbortSignal;
}

/**
 * The items of a file that contains others: one per part, or one per record for a table. Parts are detected like files
 * in a folder. Their numbers are the rows of the items.
 */
export async function* containerItems(
  file: OpenSource,
  container: Container,
  { source, config, maker, itemBytes, unpack: limits, selection, signal }: Holding,
): AsyncGenerator<readonly Item[], void> {
  let row = 0;
  for await (const part of unpack(await file.handle.descriptor(), {
    container,
    name: source.path,
    limits,
    signal,
  })) {
    for await (const drafts of draftsOf(part, { config, itemBytes, limits, signal })) {
      row++;
      if (selection?.take(source.path, row) === false) continue;
      const items: Item[] = [];
      maker.addPart(row, drafts, items);
      yield items;
    }
    if (selection?.isOver === true) return;
  }
  if (row === 0) {
    const draft = createFailedDraft('', null, itemError('EMPTY_CONTENT', NOTHING_INSIDE));
    yield [maker.wholeFile({ sha256: null, bytes: source.bytes, draft, id: null })];
  }
}

interface Reading extends Pick<Holding, 'config' | 'itemBytes' | 'signal'> {
  readonly limits: UnpackLimits;
}

/** The drafts of a part; for a table, of each of its records. */
async function* draftsOf(part: UnpackedPart, reading: Reading): AsyncGenerator<readonly Draft[], void> {
  if (part.kind === 'problem') {
    const draft = { ...createFailedDraft('', null, problemOf(part, reading.limits)), modality: null };
    yield [part.name === '' ? draft : nestInPart(part.name, draft)];
    return;
  }
  const { name } = part;
  if (part.kind === 'text') {
    yield [nestInPart(name, rejectEncoded(createPromptDraft('', part.text)))];
    return;
  }
  const { config, itemBytes, signal } = reading;
  const file = new MemorySource(Buffer.from(part.base64, 'base64'));
  const { head } = file;
  const target = { file, head, config, isNamed: false, path: name, itemBytes, signal };
  const examined = await (part.kind === 'table' ? examineTable(target) : examine(target));
  if (examined.kind !== 'records') {
    yield [nestInPart(name, wholeDraft(examined, head))];
    return;
  }
  const { layout, options } = examined;
  // A Parquet file inside another file was refused.
  if (layout.kind === 'parquet') return;
  for await (const batch of readRecords(file, head, readerFor(layout, recordBytesLimit(itemBytes)))) {
    for (const record of batch) {
      const place = `${name} row ${record.row}`;
      const drafts =
        record.error === null
          ? draftRecord(record, options).drafts
          : [createFailedDraft('', null, record.error)];
      if (drafts.length > 0) yield drafts.map((draft) => nestInPart(place, draft));
    }
  }
}

/** The draft of a part that is one item. */
function wholeDraft(
  examined: Exclude<Examination, { readonly kind: 'records' }>,
  { raw, text }: SourceHead,
): Draft {
  switch (examined.kind) {
    case 'refused': {
      const { error, modality } = examined;
      return { suffix: '', request: null, modality, requestType: null, error };
    }
    case 'media': {
      const request = {
        requestType: 'prompt',
        modality: examined.modality,
        embedded: raw,
        caption: null,
      } as const;
      return { suffix: '', request, error: null };
    }
    case 'text':
      return textDraft(text);
    case 'container':
      return createFailedDraft(
        '',
        null,
        errorWithReason('file_type', 'the file holds others, which is not read'),
      );
  }
}

const NOTHING_INSIDE = 'nothing is in the file';

/** Describes what was not unpacked in our own words. */
function problemOf(
  { why, bytes, parts }: Extract<UnpackedPart, { readonly kind: 'problem' }>,
  limits: UnpackLimits,
): ItemError {
  const rest = parts === null ? 'the rest of the file' : `the rest of the file, ${parts} parts,`;
  switch (why) {
    case 'encrypted':
      return itemError('UNSUPPORTED_TYPE', 'the file is encrypted');
    case 'method':
      return itemError('UNSUPPORTED_TYPE', 'the file is stored in the archive by a method that is not read');
    case 'damaged':
      return itemError('UNREADABLE_SOURCE', 'the file is damaged or truncated');
    case 'part-too-large':
      return itemError(
        'ITEM_TOO_LARGE',
        `the file has ${bytes ?? 'more'} bytes of at most ${MAX_PART_BYTES}`,
      );
    case 'too-deep':
      return itemError('ITEM_TOO_LARGE', `the file is inside ${limits.depth} others, so it is not unpacked`);
    case 'too-many':
      return itemError('ITEM_TOO_LARGE', `${rest} is not unpacked: it has more than ${limits.parts}`);
    case 'too-large':
      return itemError(
        'ITEM_TOO_LARGE',
        `${rest} is not unpacked: it expands to too much, or takes too long`,
      );
    case 'empty':
      return itemError('EMPTY_CONTENT', NOTHING_INSIDE);
    case 'drawing':
      return errorWithReason('file_type', 'the shapes of a drawing (SVG) are not judged: convert it to PNG');
    case 'macros':
      return itemError('UNSUPPORTED_TYPE', 'the document holds macros, which are not judged');
    case 'mail-too-large':
      return itemError(
        'ITEM_TOO_LARGE',
        'the mail has a larger header, or more parts in parts, than is read',
      );
    case 'form':
      return errorWithReason(
        'file_type',
        'the form (XFA) of the document is not judged: print it to another PDF',
      );
    case 'drawn':
      return errorWithReason(
        'file_type',
        'the page is drawn without text or images, which is not judged: save it as an image',
      );
    case 'letters':
      return errorWithReason(
        'file_type',
        'the fonts of the page do not say which letters it shows: save it as an image',
      );
    case 'partly':
      return errorWithReason('file_type', 'something on the page cannot be read: save it as an image');
    case 'internal':
      return itemError('INTERNAL', 'the process that unpacks files ended unexpectedly');
  }
}
