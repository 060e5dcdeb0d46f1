import { setImmediate } from 'node:timers/promises';
import type { RunConfig, SourceConfig } from '../../config/run-config.ts';
import type { Item, JudgedItem } from '../../domain/item.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { NotRegularFileError } from '../../files/open-file.ts';
import { PathEscapesFolderError } from '../../files/open-inside.ts';
import { ParquetProblem } from '../../formats/parquet/table-process.ts';
import { readFully } from '../../files/read-fully.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import {
  recordBytesLimit,
  recordsOf,
  type RecordBatch,
  type RecordReader,
  type SourceRecord,
} from '../../formats/record.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { examine, readerFor } from '../recognise/examine.ts';
import type { RecordLayout, TextLayout } from '../recognise/recognise-layout.ts';
import { ItemMaker } from '../items/item-maker.ts';
import { readSource } from '../items/read-source.ts';
import type { SourceSnapshot } from '../sources/sources-file.ts';
import { CorruptGzip, snapshotFile } from '../sources/file-bytes.ts';
import { ObjectError } from '../objects/object-error.ts';
import { locateSource } from '../sources/file-place.ts';
import type { SourceSnapshots } from '../sources/source-snapshots.ts';
import { configuredEncoding, idColumnNames, isNamedFile } from '../recognise/source-options.ts';
import { OpenSource } from '../sources/open-source.ts';
import { type ParquetReading, readParquet } from '../sources/parquet-rows.ts';

/** A source of a run, and how the run read it. */
export interface RunSource {
  readonly source: SourceSnapshot;
  readonly config: SourceConfig;
  readonly snapshots: SourceSnapshots;
  /** Max size of a text item, and of a media file, in bytes. */
  readonly itemBytes: number;
  readonly mediaBytes: number;
  readonly unpack: RunConfig['limits']['unpack'];
}

/** An item, as its outcome line names it. */
export type WantedItem = Pick<OutcomeLine, 'source' | 'part' | 'turn' | 'content_sha256'>;

/** A reread item, and all items of its record, including itself. */
export interface RereadItem {
  readonly item: JudgedItem;
  readonly record: readonly Item[];
}

/** Why an item was not found: its file changed after it was judged, or cannot be read. */
export type NotFound = 'changed' | 'unreadable';

const LF = 0x0a;

/** Bytes parsed at a time: only one record is wanted. */
const PART_BYTES = 16 * 1024;

/** Max sources whose form is cached. */
const MAX_FORMS = 64;

/** How to read the records of a file. */
interface SourceForm {
  readonly layout: RecordLayout;
  readonly options: RecordOptions;
  /** Text that the reader needs before a record: for a table, everything before the first row. */
  readonly before: Buffer;
}

/**
 * Rereads single items of sources. An item is found only with the content that was judged. A record is read at the
 * offset in its outcome, a row of a Parquet file by its number, a line of any other text after those before it, which
 * are not parsed; anything else is read in order. Caches the form of the last 64 sources.
 */
export class ItemReader {
  /** Least recently used first. */
  readonly #forms = new Map<string, SourceForm>();

  /** Rejects with the signal's reason, and on bugs. */
  async read(from: RunSource, wanted: WantedItem, signal: AbortSignal): Promise<RereadItem | NotFound> {
    const { row, line, offset } = wanted.source;
    if (row === null) {
      return inOrder(await withCurrentFileState(from, signal), wanted, signal);
    }
    const found = await this.#sought(from, wanted, signal);
    if (found !== null) return found;
    // A record with a known location is found there, unless its file has changed.
    const hasPlace = offset !== null || line === null;
    return inOrder(hasPlace ? from : await withCurrentFileState(from, signal), wanted, signal);
  }

  /** Reads the record alone; null if that does not find the item. */
  async #sought(from: RunSource, wanted: WantedItem, signal: AbortSignal): Promise<RereadItem | null> {
    const { source, config, itemBytes } = from;
    try {
      const file = await OpenSource.open(locateSource(source), signal);
      try {
        const form = await this.#formOf(file, from, { isText: wanted.source.offset === null, signal });
        const reading = { config, itemBytes, signal };
        const record = form && (await recordAt(file, form, wanted.source, reading));
        return record && itemOf(record, wanted, from, form.options);
      } finally {
        await file.close();
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isFileError(error)) return null;
      throw error;
    }
  }

  /** `isText` means that the text of the file is read afterwards. */
  async #formOf(
    file: OpenSource,
    from: RunSource,
    { isText, signal }: { readonly isText: boolean; readonly signal: AbortSignal },
  ): Promise<SourceForm | null> {
    const { source, config } = from;
    const name = JSON.stringify([source.absolute, file.opened, config]);
    const known = this.#forms.get(name);
    const form = known ?? (await readForm(file, from, signal));
    if (known !== undefined && isText && known.layout.kind !== 'parquet')
      await file.head(configuredEncoding(config, isNamedFile(source, config)));
    this.#forms.delete(name);
    if (form === null) return null;
    this.#forms.set(name, form);
    if (this.#forms.size > MAX_FORMS) this.#forms.delete(this.#forms.keys().next().value!);
    return form;
  }
}

/** Null if single records of the file cannot be read. */
async function readForm(
  file: OpenSource,
  { source, config, itemBytes }: RunSource,
  signal: AbortSignal,
): Promise<SourceForm | null> {
  const isNamed = isNamedFile(source, config);
  const head = await file.head(configuredEncoding(config, isNamed));
  const path = source.absolute;
  const examined = await examine({ file, head, config, isNamed, path, itemBytes, signal });
  if (examined.kind !== 'records') return null;
  const { layout, options } = examined;
  if (layout.kind === 'json-array' || layout.kind === 'json-wrapped') {
    return { layout: { kind: 'json-array' }, options, before: Buffer.from('[') };
  }
  if (layout.kind !== 'csv') return { layout, options, before: Buffer.alloc(0) };
  const reader = new CsvReader(layout, recordBytesLimit(itemBytes));
  recordsOf(reader, head.text, head.isComplete);
  // The header does not fit in the head, or contains a stray quote.
  if (reader.bodyStart === null) return null;
  return { layout, options, before: Buffer.from(head.text.subarray(0, reader.bodyStart)) };
}

/** The record at the location in an outcome; null if there is none. In a changed file it may be another record. */
async function recordAt(
  file: OpenSource,
  { layout, before }: SourceForm,
  { row, line, offset, length }: OutcomeLine['source'],
  reading: ParquetReading,
): Promise<SourceRecord | null> {
  if (layout.kind === 'parquet') {
    for await (const batch of readParquet(file, { ...reading, fromRow: row! })) {
      const record = batch.find((each) => each.row === row);
      if (record !== undefined) return record;
    }
    return null;
  }
  const recordBytes = recordBytesLimit(reading.itemBytes);
  const reader = readerFor(layout, recordBytes);
  let record: SourceRecord | null = null;
  if (offset !== null && length !== null && length <= recordBytes) {
    const bytes = await readFully(file.handle, Buffer.allocUnsafe(length), offset);
    record = recordsOf(reader, Buffer.concat([before, bytes]), true)[0] ?? null;
  } else if (line !== null && endsLines(layout)) {
    record = await firstRecord(reader, before, fromLine(file.reread(0), line));
  }
  return record && { ...record, row: row!, line };
}

/** Whether each record begins on a new line, and lines end with LF. */
function endsLines(layout: TextLayout): boolean {
  return (
    layout.kind === 'jsonl' || layout.kind === 'chat' || (layout.kind === 'csv' && layout.lineBreak !== '\r')
  );
}

/** The text from a line on, for a file that is compressed or not UTF-8: it is decoded up to there but not parsed. */
async function* fromLine(text: AsyncIterable<Buffer>, line: number): AsyncGenerator<Buffer, void> {
  let left = line - 1;
  for await (const piece of text) {
    let start = 0;
    for (; left > 0; left--) {
      start = piece.indexOf(LF, start) + 1;
      if (start === 0) break;
    }
    if (left === 0 && start < piece.length) yield piece.subarray(start);
    await setImmediate();
  }
}

async function firstRecord(
  reader: RecordReader,
  before: Buffer,
  text: AsyncIterable<Buffer>,
): Promise<SourceRecord | null> {
  const first = (batches: Iterable<RecordBatch>): SourceRecord | undefined => [...batches].flat()[0];
  let record = first(reader.push(before));
  for await (const piece of text) {
    for (let at = 0; at < piece.length && record === undefined; at += PART_BYTES) {
      record = first(reader.push(piece.subarray(at, at + PART_BYTES)));
    }
    if (record !== undefined) return record;
  }
  return first(reader.end()) ?? null;
}

/** The items that a record makes, if the wanted one is among them. */
function itemOf(
  record: SourceRecord,
  wanted: WantedItem,
  { source, config, itemBytes }: RunSource,
  options: RecordOptions,
): RereadItem | null {
  const idNames = idColumnNames(config, isNamedFile(source, config));
  const maker = new ItemMaker({ source, idNames, firstSeq: 0, itemBytes, replay: config.asStream });
  const items: Item[] = [];
  maker.add(record, options, items);
  const item = items.find((each) => isWanted(each, wanted));
  return item === undefined ? null : { item: item as JudgedItem, record: items };
}

/** Reads the source as a run does, from its beginning. */
async function inOrder(
  { source, config, ...options }: RunSource,
  wanted: WantedItem,
  signal: AbortSignal,
): Promise<RereadItem | NotFound> {
  const { row } = wanted.source;
  let record: Item[] = [];
  for await (const items of readSource(source, config, 0, { ...options, signal })) {
    for (const item of items) {
      if (item.source.row === null && item.settled !== null) {
        return item.settled.error?.code === 'UNREADABLE_SOURCE' ? 'unreadable' : 'changed';
      }
      if (item.source.row !== record[0]?.source.row) {
        const found = record.find((each) => isWanted(each, wanted));
        if (found !== undefined) return { item: found as JudgedItem, record };
        record = [];
      }
      if (row !== null && (item.source.row ?? 0) > row) return 'changed';
      record.push(item);
    }
  }
  const found = record.find((each) => isWanted(each, wanted));
  return found === undefined ? 'changed' : { item: found as JudgedItem, record };
}

/** Whether an item is the wanted one, with the content that was judged. */
function isWanted(item: Item, { source, part, turn, content_sha256 }: WantedItem): boolean {
  return (
    item.settled === null &&
    item.source.row === source.row &&
    item.contentSha256 === content_sha256 &&
    item.part === part &&
    item.turn === turn
  );
}

/**
 * The source with the current state of its file and sidecar: a file that is one item is compared by content, not by
 * times.
 */
async function withCurrentFileState(from: RunSource, signal: AbortSignal): Promise<RunSource> {
  const { source } = from;
  const { sidecar } = source;
  const state = await snapshotFile(source.absolute, signal);
  const beside = sidecar && { ...sidecar, ...(await snapshotFile(sidecar.absolute, signal)) };
  return { ...from, source: { ...source, ...state, sidecar: beside } };
}

/** Whether an error is of the file, rather than an abort or a bug. */
function isFileError(error: unknown): boolean {
  return (
    error instanceof CorruptGzip ||
    error instanceof ParquetProblem ||
    error instanceof NotRegularFileError ||
    error instanceof PathEscapesFolderError ||
    error instanceof ObjectError ||
    (error instanceof Error && 'syscall' in error)
  );
}
