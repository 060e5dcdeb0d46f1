import type { SourceConfig } from '../config/run-config.ts';
import { itemError, type ItemError } from '../domain/item-error.ts';
import type { Modality } from '../domain/request.ts';
import { CsvReader } from '../formats/csv/csv-reader.ts';
import { hasHeader } from '../formats/csv/header-guess.ts';
import { encodingByMark } from '../formats/encoding/decoder.ts';
import { isMostlyNotUtf8 } from '../formats/encoding/validity.ts';
import { JsonReader } from '../formats/json/json-reader.ts';
import { JsonlReader } from '../formats/json/jsonl-reader.ts';
import { WrappedReader } from '../formats/json/wrapped-reader.ts';
import { isFields, recordsOf, type Fields, type RecordReader, type SourceRecord } from '../formats/record.ts';
import { onlyTextColumn } from '../formats/transcripts/columns.ts';
import { isRecognised, type RecordOptions } from '../formats/transcripts/draft-record.ts';
import { textOf } from '../formats/transcripts/values.ts';
import { binaryKind, mediaKindByName } from './binary-kind.ts';
import { markupKind } from './markup-kind.ts';
import type { SourceHead } from './open-source.ts';
import { recogniseLayout, type RecordLayout } from './recognise-layout.ts';

/** How a file is to be read, or why it is not. */
export type Examined =
  | { readonly kind: 'text' }
  | { readonly kind: 'media'; readonly modality: 'image' | 'audio' }
  | {
      readonly kind: 'records';
      readonly layout: RecordLayout;
      readonly options: RecordOptions;
      /** Names of the columns, as far as the head tells. */
      readonly columns: readonly string[];
      /** The records of the head that have named values. */
      readonly sample: readonly Fields[];
    }
  | Refused;

/** A file that is one item with an error, whatever is in it. */
export interface Refused {
  readonly kind: 'refused';
  readonly why: 'binary' | 'empty' | 'encoding' | 'no-header' | 'no-text-column' | 'no-such-column';
  readonly modality: Modality | null;
  readonly error: ItemError;
  /** Names of the file's columns, as far as its head tells, and of those asked for in vain. For the terminal only. */
  readonly columns: readonly string[];
  readonly missing: readonly string[];
}

/** What is looked at to tell a header from a row of data. */
const HEADER_SAMPLE_BYTES = 64 * 1024;
const HEADER_SAMPLE_ROWS = 100;

/** Largest record of a sample; the head is not much longer. */
const SAMPLE_RECORD_BYTES = 1024 * 1024;

/**
 * Decides from the head of a file how it is read: the same for the same bytes and configuration. `isNamed` says that the
 * user named the file itself: then it must have the columns that were asked for. Of one that was found, they are judged
 * as far as it has them; one that has none is read as if none had been asked for.
 */
export function examine(head: SourceHead, path: string, config: SourceConfig, isNamed: boolean): Examined {
  const binary = binaryKind(head.raw, path, head.encoding);
  if (binary !== null) {
    const { modality, isJudged } = binary;
    if (isJudged && (modality === 'image' || modality === 'audio')) return { kind: 'media', modality };
    // The decoder of sound uses the guard's own code for what is none.
    const code = modality === 'audio' ? 'UNSUPPORTED_AUDIO_TYPE' : 'UNSUPPORTED_TYPE';
    const error = itemError(code, `the file is ${binary.name}, which is not judged`);
    return refused('binary', error, modality);
  }
  if (head.raw.length === 0) {
    const named = mediaKindByName(path)?.modality ?? null;
    if (named !== null) return refused('empty', itemError('EMPTY_CONTENT', 'the file is empty'), named);
  }
  // Whoever names a layout has looked at the file.
  const markup = config.layout === null ? markupKind(head.text, head.isComplete, path) : null;
  if (markup !== null) {
    const message = `the file is ${markup.name}, which is not judged: ${markup.help}`;
    return refused('binary', itemError('UNSUPPORTED_TYPE', message), markup.modality);
  }
  const isUtf8 = head.encoding === null && encodingByMark(head.raw) === null;
  if (isUtf8 && isMostlyNotUtf8(head.text, head.isComplete)) {
    const error = itemError('INVALID_ENCODING', 'the file is not UTF-8; name its encoding with --encoding');
    return refused('encoding', error);
  }
  const layout = recogniseLayout(head.text, head.isComplete, path, config.layout);
  if (layout.kind === 'text') return layout;
  return examineRecords(settledLayout(layout, head, config), head, config, isNamed);
}

/** The layout with what the configuration says of it, and for a table whether its first row names the columns. */
function settledLayout(layout: RecordLayout, head: SourceHead, config: SourceConfig): RecordLayout {
  if (layout.kind === 'json-wrapped') return { ...layout, wordsCount: config.textColumns === null };
  if (layout.kind !== 'csv') return layout;
  if (config.header !== null) return { ...layout, header: config.header === 'yes' };
  const reader = new CsvReader({ ...layout, header: false }, SAMPLE_RECORD_BYTES);
  const wanted = [...(config.textColumns ?? []), ...(config.idColumn === null ? [] : [config.idColumn])];
  const [first, ...below] = recordsOf(reader, head.text.subarray(0, HEADER_SAMPLE_BYTES), head.isComplete);
  // A first row that cannot be read is the header's mistake, as long as nobody says that there is none.
  if (first === undefined || !isFields(first.content)) return { ...layout, header: true };
  const rows = [first.content, ...below.map(({ content }) => content).filter(isFields)];
  return { ...layout, header: hasHeader(rows.slice(0, HEADER_SAMPLE_ROWS).map(cellsOf), wanted) };
}

function cellsOf(row: Fields): string[] {
  return row.names().map((_, position) => textOf(row.at(position)) ?? '');
}

/** A reader for a layout, for records of up to `recordBytes`. */
export function readerFor(layout: RecordLayout, recordBytes: number): RecordReader {
  switch (layout.kind) {
    case 'csv':
      return new CsvReader(layout, recordBytes);
    case 'jsonl':
      return new JsonlReader(recordBytes);
    case 'json-array':
      return new JsonReader('array', recordBytes);
    case 'json-wrapped':
      return new WrappedReader(layout, layout.wordsCount, recordBytes);
    case 'json-values':
      return new JsonReader('values', recordBytes);
  }
}

function examineRecords(
  layout: RecordLayout,
  head: SourceHead,
  config: SourceConfig,
  isNamed: boolean,
): Examined {
  const reader = readerFor(layout, SAMPLE_RECORD_BYTES);
  const records = recordsOf(reader, head.text, head.isComplete);
  const sample = records.map(({ content }) => content).filter(isFields);
  const header = reader instanceof CsvReader ? reader.header : null;
  if (reader instanceof CsvReader && reader.isHeadless) {
    return refused('no-header', itemError('MALFORMED_ROW', 'the first line of the table is not a header'));
  }
  const columns = header?.names ?? namesOf(sample);
  const known = header !== null || sample.length > 0;
  if (known && isNamed) {
    const wanted = [...(config.textColumns ?? []), ...(config.idColumn === null ? [] : [config.idColumn])];
    const missing = wanted.filter((name) => !hasColumn(columns, name));
    if (missing.length > 0) {
      const error = itemError('UNSUPPORTED_TYPE', 'the file has no column of the name that was asked for');
      return refused('no-such-column', error, null, columns, missing);
    }
  }
  const textColumns = isNamed ? config.textColumns : fitting(config.textColumns, columns);
  const unrecognised =
    textColumns === null ? sample.filter((fields) => !isRecognised(fields, config.audit)) : [];
  const only = onlyTextColumn(unrecognised, config.idColumn);
  if (only === null && unrecognised.length > 0 && unrecognised.length === readable(records)) {
    return refused('no-text-column', NO_TEXT_COLUMN, null, columns);
  }
  return {
    kind: 'records',
    layout,
    options: { textColumns, onlyTextColumn: only, audit: config.audit },
    columns,
    sample,
  };
}

/** The columns of those asked for that a file has; null when there are none. */
function fitting(wanted: readonly string[] | null, columns: readonly string[]): readonly string[] | null {
  const found = wanted?.filter((name) => hasColumn(columns, name)) ?? [];
  return found.length === 0 ? null : found;
}

const NO_TEXT_COLUMN = itemError('UNSUPPORTED_TYPE', 'no column of the file is recognised as its text');

/** Whether an item stands for a table or for records of which nobody said what is to be judged. */
export function isWithoutTextColumn({ code, message }: Pick<ItemError, 'code' | 'message'>): boolean {
  return code === NO_TEXT_COLUMN.code && message === NO_TEXT_COLUMN.message;
}

function readable(records: readonly SourceRecord[]): number {
  return records.filter(({ content }) => content !== null).length;
}

function namesOf(sample: readonly Fields[]): readonly string[] {
  return [...new Set(sample.flatMap((fields) => fields.names()))];
}

/** Whether a name is among those of columns, in whatever letter case. */
export function hasColumn(columns: readonly string[], name: string): boolean {
  const folded = name.toLowerCase();
  return columns.some((column) => column.toLowerCase() === folded);
}

function refused(
  why: Refused['why'],
  error: ItemError,
  modality: Modality | null = null,
  columns: readonly string[] = [],
  missing: readonly string[] = [],
): Refused {
  return { kind: 'refused', why, error, modality, columns, missing };
}
