import type { SourceConfig } from '../../config/run-config.ts';
import { itemError, type ItemCode } from '../../domain/item-error.ts';
import type { Item } from '../../domain/item.ts';
import type { ReadMedia } from '../../domain/request.ts';
import { fileState, type FileState } from '../../files/file-state.ts';
import { NotRegularFileError } from '../../files/open-file.ts';
import { PathEscapesFolderError } from '../../files/open-inside.ts';
import { ParquetProblem } from '../../formats/parquet/table-process.ts';
import { type RecordBatch, recordBytesLimit, type SourceRecord } from '../../formats/record.ts';
import type { UnpackLimits } from '../../formats/unpack/messages.ts';
import { createFailedDraft } from '../../formats/transcripts/draft.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { mediaKindByName } from '../../formats/binary-kind.ts';
import { layoutByName } from '../recognise/recognise-layout.ts';
import { examine, readerFor, type Examination } from '../recognise/examine.ts';
import { CorruptGzip } from '../sources/file-bytes.ts';
import { locateSource } from '../sources/file-place.ts';
import type { SourceSnapshots } from '../sources/source-snapshots.ts';
import { containerItems } from './container-items.ts';
import { ItemMaker } from './item-maker.ts';
import { ObjectError } from '../objects/object-error.ts';
import type { ManifestTable } from '../recognise/manifest-table.ts';
import type { RecordSelection } from './record-selection.ts';
import { configuredEncoding, idColumnNames, isNamedFile } from '../recognise/source-options.ts';
import { type ReadBefore, readMediaItem, readTextItem } from './whole-file-item.ts';
import { OpenSource, type SourceHead } from '../sources/open-source.ts';
import type { SourceSnapshot } from '../sources/sources-file.ts';
import { readParquet } from '../sources/parquet-rows.ts';
import { readRecords } from '../sources/read-records.ts';

export interface ReadOptions {
  /** All sources of the run. */
  readonly snapshots: SourceSnapshots;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  /** Max size of a media file in bytes. */
  readonly mediaBytes: number;
  readonly unpack: UnpackLimits;
  /** Records selected by a trial; omitted to judge everything. A problem with the file is always an item. */
  readonly selection?: RecordSelection | undefined;
  readonly signal: AbortSignal;
  /** Media files that were read before, and need not be read if they have not changed. */
  readonly readBefore?: ReadBefore | undefined;
  /** Called with the number of stored (compressed) bytes of the file read so far. */
  readonly onBytes?: (bytesReadSoFarOfFile: number) => void;
}

/**
 * The items of one file in order, in batches, with seqs from `firstSeq`. The same file always yields the same items. A
 * problem with the file is an item too: it cannot be read or detected, or it changed after the run was created, before
 * or while it was read. Throws only on abort and on bugs.
 */
export async function* readSource(
  source: SourceSnapshot,
  config: SourceConfig,
  firstSeq: number,
  options: ReadOptions,
): AsyncGenerator<readonly Item[], void> {
  const isNamed = isNamedFile(source, config);
  const maker = new ItemMaker({
    source,
    idNames: idColumnNames(config, isNamed),
    firstSeq,
    itemBytes: options.itemBytes,
    replay: config.asStream,
  });
  let file: OpenSource;
  try {
    file = await OpenSource.open(locateSource(source), options.signal, { onBytes: options.onBytes });
  } catch (error) {
    yield problem(fileProblem(maker, source, error), source, options);
    return;
  }
  try {
    yield* contentItems(file, maker, source, { config, isNamed, options });
  } catch (error) {
    options.signal.throwIfAborted();
    yield problem(fileProblem(maker, source, error), source, options);
  } finally {
    await file.close();
  }
}

async function* contentItems(
  file: OpenSource,
  maker: ItemMaker,
  source: SourceSnapshot,
  {
    config,
    isNamed,
    options,
  }: { readonly config: SourceConfig; readonly isNamed: boolean; readonly options: ReadOptions },
): AsyncGenerator<readonly Item[], void> {
  if (!file.matchesSnapshot(source)) {
    yield problem(changedItem(maker), source, options);
    return;
  }
  const { snapshots, itemBytes, readBefore, signal } = options;
  const manifest = await snapshots.manifestOf(source, signal);
  if (source.manifest === source.source) {
    if (manifest) yield* manifestItems(manifest, maker, source.path, options);
    else yield problem(changedItem(maker), source, options);
    return;
  }
  const mayBeMedia = config.layout === null;
  const { local } = file.handle;
  const mayBeRemembered = mayBeMedia && readBefore !== undefined && local !== null;
  const state = mayBeRemembered && !(await snapshots.isInMemory(local, source)) ? fileState(local) : null;
  const unchanged = state && (readBefore?.find(state) ?? null);
  const whole = { file, maker, source, config, manifest, options, state };
  if (unchanged !== null) {
    yield* mediaItem(whole, unchanged.modality, unchanged);
    return;
  }
  const head = await file.head(configuredEncoding(config, isNamed));
  maker.seekIn(head);
  const path = source.absolute;
  const examined = await examine({ file, head, config, isNamed, path, itemBytes, signal });
  yield* examinedItems({ ...whole, head, examined });
}

/** One failed item per row of a manifest that describes no file. */
function* manifestItems(
  { rows }: ManifestTable,
  maker: ItemMaker,
  path: string,
  { selection, signal }: ReadOptions,
): Generator<readonly Item[], void> {
  for (const { record, error } of rows) {
    signal.throwIfAborted();
    if (selection?.take(path, record.row) !== false) yield [maker.refused(record, error, null)];
  }
}

/** A file that may be one item. */
interface WholeFileReading {
  readonly file: OpenSource;
  readonly maker: ItemMaker;
  readonly source: SourceSnapshot;
  readonly config: SourceConfig;
  readonly manifest: ManifestTable | null | undefined;
  readonly options: ReadOptions;
  /** State before anything was read; null if it need not be remembered. */
  readonly state: FileState | null;
}

interface Reading extends WholeFileReading {
  readonly head: SourceHead;
  readonly examined: Examination;
}

async function* examinedItems(reading: Reading): AsyncGenerator<readonly Item[], void> {
  const { file, head, examined, maker, source, config, manifest, options } = reading;
  const { itemBytes, selection } = options;
  if (examined.kind === 'media') {
    yield* mediaItem(reading, examined.modality, null);
    return;
  }
  if (examined.kind === 'container') {
    yield* containerItems(file, examined.container, { source, config, maker, ...options });
    if (!file.matchesSnapshot(source)) {
      selection?.addUnreadable(1);
      yield [changedItem(maker)];
    }
    return;
  }
  const isWhole = examined.kind === 'text' || examined.kind === 'refused';
  if (isWhole && selection?.take(source.path, null) === false) return;
  if (examined.kind === 'text') {
    if (manifest === null) {
      yield [manifestChanged(maker)];
      return;
    }
    const whole = await readTextItem(file, head, { source, manifest, itemBytes });
    yield [file.matchesSnapshot(source) ? maker.wholeFile(whole) : changedItem(maker)];
    return;
  }
  if (examined.kind === 'refused') {
    const { modality, error } = examined;
    const draft = { suffix: '', request: null, modality, requestType: null, error };
    yield [
      maker.wholeFile({ sha256: null, bytes: source.bytes, draft, id: manifest?.entry(source)?.id ?? null }),
    ];
    return;
  }
  const records = recordsIn(reading, examined);
  const wanted = (record: SourceRecord): boolean => isSelected(record, source.path, selection);
  yield* recordItems(records, { maker, wanted, selection, options: examined.options });
  if (!file.matchesSnapshot(source)) {
    selection?.addUnreadable(1);
    yield [changedItem(maker)];
  }
}

function recordsIn(
  { file, head, source, config, options }: Reading,
  { layout, whole }: Extract<Examination, { readonly kind: 'records' }>,
): AsyncIterable<RecordBatch> | Iterable<RecordBatch> {
  const { itemBytes, signal, onBytes } = options;
  if (layout.kind !== 'parquet') {
    return readRecords(file, head, readerFor(layout, recordBytesLimit(itemBytes)));
  }
  if (whole === null) return readParquet(file, { config, itemBytes, signal, onBytes });
  onBytes?.(source.bytes);
  return [whole];
}

interface Making {
  readonly maker: ItemMaker;
  readonly wanted: (record: SourceRecord) => boolean;
  readonly selection: RecordSelection | undefined;
  readonly options: RecordOptions;
}

/** `unchanged`: recorded facts about a file that need not be read. */
async function* mediaItem(
  { file, maker, source, config, manifest, options, state }: WholeFileReading,
  modality: ReadMedia['modality'],
  unchanged: ReadMedia | null,
): AsyncGenerator<readonly Item[], void> {
  const { mediaBytes, readBefore, selection, signal } = options;
  if (selection?.take(source.path, null) === false) return;
  if (manifest === null) {
    yield [manifestChanged(maker)];
    return;
  }
  const target = { source, config, manifest, mediaBytes, modality, state, readBefore, signal };
  const whole = await readMediaItem(file, target, unchanged);
  yield [file.matchesSnapshot(source) ? maker.wholeFile(whole) : changedItem(maker)];
}

async function* recordItems(
  batches: AsyncIterable<RecordBatch> | Iterable<RecordBatch>,
  { maker, wanted, selection, options }: Making,
): AsyncGenerator<readonly Item[], void> {
  for await (const records of batches) {
    const items: Item[] = [];
    for (const record of records) if (wanted(record)) maker.add(record, options, items);
    if (items.length > 0) yield items;
    if (selection?.isOver === true) return;
  }
}

/** Whether a record is judged. Only a trial excludes records. */
function isSelected(record: SourceRecord, path: string, selection: RecordSelection | undefined): boolean {
  if (selection === undefined) return true;
  const isAround = record.error === null && record.isWrapper === true;
  return isAround ? selection.takeAround(path, record.row) : selection.take(path, record.row);
}

/**
 * The item of a file that cannot be read as it was listed. In a sample, a file that is one record, judging by its name,
 * has this item only if it was selected. Other files have an unknown number of records, so they always have it.
 */
function problem(
  item: Item,
  { path, absolute }: SourceSnapshot,
  { selection }: ReadOptions,
): readonly Item[] {
  const isOneRecord = layoutByName(absolute) === 'text' || mediaKindByName(absolute) !== null;
  if (isOneRecord) return selection?.take(path, null) === false ? [] : [item];
  selection?.addUnreadable(1);
  return [item];
}

function manifestChanged(maker: ItemMaker): Item {
  const message = 'the manifest of the corpus changed after the run was created';
  return settledFile(maker, 'SOURCE_CHANGED', message, null);
}

function changedItem(maker: ItemMaker): Item {
  return settledFile(maker, 'SOURCE_CHANGED', 'the file changed after the run was created', null);
}

/**
 * An error of the file system, the gzip data or the Parquet format as an item. Anything else is a bug and is rethrown.
 */
function fileProblem(maker: ItemMaker, source: SourceSnapshot, error: unknown): Item {
  if (error instanceof CorruptGzip) {
    return settledFile(maker, 'UNREADABLE_SOURCE', 'the gzip data is damaged or truncated', source.bytes);
  }
  if (error instanceof ParquetProblem) {
    return settledFile(maker, error.error.code, error.error.message, source.bytes);
  }
  // The file was a regular file when the corpus was walked.
  if (error instanceof NotRegularFileError) return changedItem(maker);
  if (error instanceof PathEscapesFolderError) {
    return settledFile(maker, 'UNREADABLE_SOURCE', 'the file is not inside its corpus', null);
  }
  if (error instanceof ObjectError) return settledFile(maker, error.error.code, error.message, source.bytes);
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (!(error instanceof Error) || !('syscall' in error) || typeof code !== 'string') throw error;
  return settledFile(maker, 'UNREADABLE_SOURCE', `the file cannot be read (${code})`, null);
}

function settledFile(maker: ItemMaker, code: ItemCode, message: string, bytes: number | null): Item {
  const draft = { ...createFailedDraft('', null, itemError(code, message)), modality: null };
  return maker.wholeFile({ sha256: null, bytes, draft, id: null });
}
