import type { SourceConfig } from '../../config/run-config.ts';
import type { ChosenBy } from '../../config/judged-columns.ts';
import { errorWithReason, itemError, type ItemError } from '../../domain/item-error.ts';
import type { Modality } from '../../domain/request.ts';
import { ChatReader } from '../../formats/chat-reader.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { hasHeader } from '../../formats/csv/header-guess.ts';
import { encodingByMark } from '../../formats/encoding/decoder.ts';
import { isMostlyNotUtf8, likelyEncoding } from '../../formats/encoding/likely-encoding.ts';
import { JsonReader } from '../../formats/json/json-reader.ts';
import { JsonlReader } from '../../formats/json/jsonl-reader.ts';
import { WrappedReader } from '../../formats/json/wrapped-reader.ts';
import {
  isFields,
  recordBytesLimit,
  type Fields,
  type ReadRecord,
  type RecordReader,
  type SourceRecord,
} from '../../formats/record.ts';
import { type Container, containerKind } from '../../formats/unpack/container-kind.ts';
import { ParquetProblem } from '../../formats/parquet/table-process.ts';
import { chooseTextColumns } from '../../formats/transcripts/columns.ts';
import { isRecognised, type RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { isChat } from '../../formats/transcripts/turns/conversation.ts';
import { readUtterance } from '../../formats/transcripts/turns/utterances.ts';
import { parseElements, toText } from '../../formats/transcripts/values.ts';
import { binaryKind, mediaKindByName, PARQUET } from '../../formats/binary-kind.ts';
import { markupKind } from './markup-kind.ts';
import { MemorySource } from '../sources/memory-source.ts';
import type { OpenSource, SourceHead } from '../sources/open-source.ts';
import { recogniseLayout, type RecordLayout, type TextLayout } from './recognise-layout.ts';
import { sampleParquet } from '../sources/parquet-rows.ts';
import { SAMPLE_RECORDS, sampleRecords } from '../sources/read-records.ts';

/** How a file is read, or why it is refused. */
export type Examination =
  | Exclude<HeadExamination, { readonly kind: 'layout' }>
  | {
      readonly kind: 'records';
      readonly layout: RecordLayout;
      readonly options: RecordOptions;
      readonly chosenBy: ChosenBy;
      /** Names of the columns in the sample. */
      readonly columns: readonly string[];
      /** The readable records of the sample. */
      readonly sample: readonly ReadRecord[];
      /** All records of a small Parquet file, which then need not be read again; null for others. */
      readonly whole: readonly SourceRecord[] | null;
    };

/** Decision based on the head of a file alone. */
type HeadExamination =
  | { readonly kind: 'text' }
  | { readonly kind: 'media'; readonly modality: 'image' | 'audio' }
  | { readonly kind: 'layout'; readonly layout: RecordLayout }
  | { readonly kind: 'container'; readonly container: Container }
  | Refusal;

/** A file that becomes one failed item. */
export interface Refusal {
  readonly kind: 'refused';
  readonly why: 'binary' | 'empty' | 'encoding' | 'no-header' | 'no-such-column';
  readonly modality: Modality | null;
  readonly error: ItemError;
  /** Names of the file's columns in its sample. For the terminal only. */
  readonly columns: readonly string[];
  /** Names of the columns that the user asked for and the file lacks. For the terminal only. */
  readonly missing: readonly string[];
  /** WHATWG label of the most likely encoding of a file that is not UTF-8; null if none was detected. */
  readonly encoding: string | null;
}

/** An open file whose head was read. */
interface ToExamine {
  readonly file: OpenSource | MemorySource;
  readonly head: SourceHead;
  readonly path: string;
  readonly config: SourceConfig;
  /** Whether the user named the file itself. */
  readonly isNamed: boolean;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Decides from the head of a file and its first records how it is read. The result depends only on its bytes and the
 * configuration. A named file must have all columns that the user asked for. In a file that was found in a folder or by
 * a glob, those that exist are judged; if none exists, the file is read as if none had been requested.
 */
export async function examine(target: ToExamine): Promise<Examination> {
  const { head, path, config } = target;
  const examined = examineHead(head, path, config);
  if (examined.kind !== 'layout') return examined;
  if (examined.layout.kind === 'parquet') return examineParquet(target.file, target);
  return examineRecords(await withHeader(examined.layout, target), target);
}

/**
 * Decides how to read the rows of a table that we made: CSV with commas and line feeds, otherwise by the usual rules.
 */
export async function examineTable(target: ToExamine): Promise<Examination> {
  const separation = { delimiter: ',', lineBreak: '\n', namesDelimiter: false } as const;
  return examineRecords(
    await withHeader({ kind: 'csv', ...separation, header: true, width: null }, target),
    target,
  );
}

/** Determines the kind of a file from its head. */
export function examineHead(head: SourceHead, path: string, config: SourceConfig): HeadExamination {
  const { isCompressed } = head;
  const container = config.layout === null ? containerKind(head.raw, { isCompressed, name: path }) : null;
  if (container !== null) return { kind: 'container', container };
  const binary = binaryKind(head.raw, path, head.encoding);
  if (binary === PARQUET && !head.isCompressed) return { kind: 'layout', layout: { kind: 'parquet' } };
  if (binary !== null) {
    const { modality, isJudged } = binary;
    if (isJudged && (modality === 'image' || modality === 'audio')) return { kind: 'media', modality };
    const message = `the file is ${binary.name}, which is not judged`;
    // The audio decoder uses the guard's own code for files that are not audio.
    const error =
      modality === 'audio'
        ? itemError('UNSUPPORTED_AUDIO_TYPE', message)
        : errorWithReason('file_type', message);
    return refuse('binary', error, modality);
  }
  if (head.raw.length === 0) {
    const named = mediaKindByName(path)?.modality ?? null;
    if (named !== null) return refuse('empty', itemError('EMPTY_CONTENT', 'the file is empty'), named);
  }
  // If the user named a layout, the file is not checked for markup.
  const markup = config.layout === null ? markupKind(head.text, head.isComplete, path) : null;
  if (markup !== null) {
    const message = `the file is ${markup.name}, which is not judged: ${markup.help}`;
    return refuse('binary', errorWithReason('file_type', message));
  }
  const marked = encodingByMark(head.raw);
  const isUtf8 = head.encoding === null && marked === null;
  if (isUtf8 && isMostlyNotUtf8(head.text, head.isComplete)) {
    const encoding = likelyEncoding(head.raw);
    const flag = encoding === null ? '(--encoding)' : `(--encoding ${encoding})`;
    const error = itemError('INVALID_ENCODING', `the file is not UTF-8: name its encoding ${flag}`);
    return { ...refuse('encoding', error), encoding };
  }
  const isUtf16 = marked !== null && marked !== 'utf-8';
  const layout = recogniseLayout(head.text, head.isComplete, path, { forced: config.layout, isUtf16 });
  return layout.kind === 'text' ? layout : { kind: 'layout', layout };
}

/** The layout with the configured or detected header: whether the first row of a table names the columns. */
async function withHeader(layout: TextLayout, target: ToExamine): Promise<TextLayout> {
  const { config } = target;
  if (layout.kind !== 'csv') return layout;
  if (config.header !== null) return { ...layout, header: config.header === 'yes' };
  const wanted = [...(config.textColumns ?? []), ...(config.idColumn === null ? [] : [config.idColumn])];
  const [first, ...below] = (await sampleOf({ ...layout, header: false }, target)).records;
  // An unreadable first row counts as a malformed header, unless the configuration says that there is none.
  if (first === undefined || !isFields(first.content)) return { ...layout, header: true };
  const rows = [first.content, ...below.map(({ content }) => content).filter(isFields)];
  return { ...layout, header: hasHeader(rows.slice(0, SAMPLE_RECORDS).map(cellsOf), wanted) };
}

function cellsOf(row: Fields): string[] {
  return row.names().map((_, position) => toText(row.at(position)) ?? '');
}

/** A reader for a layout, for records of up to `recordBytes`. */
export function readerFor(layout: TextLayout, recordBytes: number): RecordReader {
  switch (layout.kind) {
    case 'csv':
      return new CsvReader(layout, recordBytes);
    case 'jsonl':
      return new JsonlReader(recordBytes);
    case 'json-array':
      return new JsonReader('array', recordBytes);
    case 'json-wrapped':
      return new WrappedReader(layout, recordBytes);
    case 'json-values':
      return new JsonReader('values', recordBytes);
    case 'chat':
      return new ChatReader(recordBytes);
  }
}

/** The first records of a file, and the reader that found them. */
async function sampleOf(layout: TextLayout, { file, head, itemBytes }: ToExamine) {
  const reader = readerFor(layout, recordBytesLimit(itemBytes));
  return { reader, records: await sampleRecords(file, head, reader) };
}

async function examineRecords(layout: TextLayout, target: ToExamine): Promise<Examination> {
  const { reader, records } = await sampleOf(layout, target);
  if (reader instanceof CsvReader && reader.hasUnreadableHeader) {
    return refuse('no-header', itemError('MALFORMED_ROW', 'the first line of the table is not a header'));
  }
  const header = reader instanceof CsvReader ? reader.header : null;
  return examineSample(layout, records, header?.names ?? null, target);
}

/** A file whose metadata cannot be read is refused. Rows that cannot be read become an item when it is read. */
async function examineParquet(file: ToExamine['file'], target: ToExamine): Promise<Examination> {
  if (file instanceof MemorySource) {
    const message = 'the file is a Parquet file inside another file, which is not judged';
    return refuse('binary', errorWithReason('file_type', message));
  }
  try {
    const { records, columns, isWhole } = await sampleParquet(file, target);
    const examined = examineSample({ kind: 'parquet' }, records, columns, target);
    return isWhole && examined.kind === 'records' ? { ...examined, whole: records } : examined;
  } catch (error) {
    if (!(error instanceof ParquetProblem)) throw error;
    return refuse('binary', error.error);
  }
}

/** `named` has the columns that the file names apart from its records; null if there are none. */
function examineSample(
  layout: RecordLayout,
  records: readonly SourceRecord[],
  named: readonly string[] | null,
  { config, isNamed }: ToExamine,
): Examination {
  const own = records.filter((record) => record.error !== null || record.isWrapper !== true);
  const sample = own.map(({ content }) => content).filter(isFields);
  const columns = named ?? namesOf(sample);
  const known = named !== null || sample.length > 0;
  if (known && isNamed) {
    const wanted = [...(config.textColumns ?? []), ...(config.idColumn === null ? [] : [config.idColumn])];
    const missing = wanted.filter((name) => !hasColumn(columns, name));
    if (missing.length > 0) {
      const error = errorWithReason(
        'no_text_column',
        'the file has no column of the name that was asked for',
      );
      return refuse('no-such-column', error, null, columns, missing);
    }
  }
  const textColumns = isNamed ? config.textColumns : present(config.textColumns, columns);
  const hasMessages =
    textColumns === null && MESSAGE_LAYOUTS.has(layout.kind) && isChat(sample.map(readUtterance));
  const unrecognised =
    textColumns === null && !hasMessages
      ? sample.filter((fields) => !isRecognised(fields, config.audit))
      : [];
  const found = chooseTextColumns(unrecognised, config.idColumn);
  const hasNoText = found.length === 0 && unrecognised.length > 0 && unrecognised.length === readable(own);
  return {
    kind: 'records',
    layout,
    chosenBy: hasNoText ? 'nothing' : textColumns !== null ? 'option' : found.length > 0 ? 'content' : 'name',
    options: {
      textColumns,
      foundColumns: found,
      listColumns: layout.kind === 'csv' ? findListColumns(sample) : [],
      audit: config.audit,
      isChat: hasMessages,
      isWithoutText: hasNoText,
    },
    columns,
    sample: records.filter((record) => record.error === null),
    whole: null,
  };
}

/** Lowercase names of the columns whose sample cells are all blank or JSON lists, and not all blank. */
function findListColumns(sample: readonly Fields[]): readonly string[] {
  const names = new Set(sample[0]?.names().map((name) => name.toLowerCase()));
  return [...names].filter((name) => {
    const cells = sample.map((fields) => toText(fields.get(name)) ?? '').filter((cell) => cell.trim() !== '');
    return cells.length > 0 && cells.every((cell) => parseElements(cell) !== null);
  });
}

/** Layouts of files exported by messengers. Rows of a table are judged individually instead. */
const MESSAGE_LAYOUTS: ReadonlySet<RecordLayout['kind']> = new Set(['json-array', 'json-wrapped', 'chat']);

/** The wanted columns that a file has; null if it has none of them. */
function present(wanted: readonly string[] | null, columns: readonly string[]): readonly string[] | null {
  const found = wanted?.filter((name) => hasColumn(columns, name)) ?? [];
  return found.length === 0 ? null : found;
}

function readable(records: readonly SourceRecord[]): number {
  return records.filter(({ content }) => content !== null).length;
}

function namesOf(sample: readonly Fields[]): readonly string[] {
  return [...new Set(sample.flatMap((fields) => fields.names()))];
}

/** Whether there is a column of this name, ignoring case. */
export function hasColumn(columns: readonly string[], name: string): boolean {
  const folded = name.toLowerCase();
  return columns.some((column) => column.toLowerCase() === folded);
}

function refuse(
  why: Refusal['why'],
  error: ItemError,
  modality: Modality | null = null,
  columns: readonly string[] = [],
  missing: readonly string[] = [],
): Refusal {
  return { kind: 'refused', why, error, modality, columns, missing, encoding: null };
}
