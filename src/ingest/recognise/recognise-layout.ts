import type { SourceConfig } from '../../config/run-config.ts';
import { beginsWithMessages } from '../../formats/chat-reader.ts';
import { type CsvDialect, sniffDialect } from '../../formats/csv/csv-dialect.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { skipSpace } from '../../formats/json/scan.ts';
import type { WrappedArray } from '../../formats/json/wrapped-reader.ts';
import { isFields, looksLikeName, recordsOf } from '../../formats/record.ts';
import { isRecognised } from '../../formats/transcripts/draft-record.ts';
import {
  beginsWithCutObject,
  beginsWithRecord,
  beginsWithTurn,
  firstElement,
  isOpenArray,
  parsed,
  wrappedArray,
} from './array-head.ts';

/** How the records of a file are laid out. */
export type RecordLayout = TextLayout | { readonly kind: 'parquet' };

/** Records in the text of a file. */
export type TextLayout =
  | ({ readonly kind: 'csv' } & CsvDialect)
  | { readonly kind: 'jsonl' }
  /** The elements of one array. */
  | { readonly kind: 'json-array' }
  /** The elements of an array in a wrapper object. */
  | ({ readonly kind: 'json-wrapped' } & WrappedArray)
  /** A sequence of JSON values, or a single one. */
  | { readonly kind: 'json-values' }
  /** The messages of a chat as lines of text. */
  | { readonly kind: 'chat' };

/** A file contains records, or is one text item as a whole. */
type FileLayout = TextLayout | { readonly kind: 'text' };

/**
 * The layout of a file, from its UTF-8 head: the forced one, otherwise the one of its name unless the content
 * contradicts it, otherwise the one that the content looks like. `complete` means that the head is the whole file;
 * `isUtf16` that its byte order mark says so, as in text saved by spreadsheets.
 */
export function recogniseLayout(
  head: Buffer,
  complete: boolean,
  path: string,
  { forced, isUtf16 }: { readonly forced: SourceConfig['layout']; readonly isUtf16: boolean },
): FileLayout {
  const name = path.toLowerCase().replace(/\.gz$/, '');
  switch (forced ?? layoutByName(name)) {
    case 'csv':
      return forced === null && isObject(parsed(firstLine(head)))
        ? { kind: 'jsonl' }
        : csvLayout(head, complete, name);
    case 'jsonl':
      return forced === null ? jsonlLayout(head, complete) : { kind: 'jsonl' };
    case 'json':
      return jsonLayout(head, complete);
    case 'text':
      if (forced !== null) return { kind: 'text' };
      return (isUtf16 && tabbedTable(head, complete)) || textLayout(head, complete);
    case null:
      return layoutByContent(head, complete, name);
  }
}

/**
 * The layout of a spreadsheet saved as "Unicode Text": rows of equally many cells, separated by tabs. Null for others.
 */
function tabbedTable(head: Buffer, complete: boolean): TextLayout | null {
  const table = { ...csvLayout(head, complete, '.tsv'), delimiter: '\t' } as const;
  const reader = new CsvReader(table, head.length);
  const records = recordsOf(reader, head, complete);
  const names = reader.header?.names ?? [];
  const isTable =
    names.length > 1 && (records.length > 1 || (records.length > 0 && names.every(looksLikeName)));
  return isTable && records.every(({ content }) => content !== null) ? table : null;
}

/** The layout according to a file's name; null for other names. */
export function layoutByName(path: string): SourceConfig['layout'] {
  const extension = /\.([a-z0-9]+)$/.exec(path.toLowerCase().replace(/\.gz$/, ''))?.[1];
  switch (extension) {
    case 'csv':
    case 'tsv':
      return 'csv';
    case 'jsonl':
    case 'ndjson':
      return 'jsonl';
    case 'json':
      return 'json';
    case 'txt':
    case 'md':
      return 'text';
    default:
      return null;
  }
}

function csvLayout(head: Buffer, complete: boolean, name: string): { readonly kind: 'csv' } & CsvDialect {
  return { kind: 'csv', ...sniffDialect(head, complete, name.endsWith('.tsv') ? '\t' : null) };
}

/** The layout of a file named as JSON Lines: that one, unless it clearly is a single array. */
function jsonlLayout(head: Buffer, complete: boolean): FileLayout {
  if (firstByte(head) !== '[') return { kind: 'jsonl' };
  const line = firstLine(head);
  const lineEnd = skipSpace(head, 0) + line.length;
  const next = firstLine(head.subarray(lineEnd));
  const isOnlyLine = lineEnd === head.length || (next.length === 0 && complete);
  if (isOnlyLine) return { kind: beginsWithRecord(head) ? 'json-array' : 'jsonl' };
  return isOpenArray(line, next) ? jsonLayout(head, complete) : { kind: 'jsonl' };
}

function jsonLayout(head: Buffer, complete: boolean): FileLayout {
  if (firstByte(head) === '[') {
    // An array of turns is one conversation, not a list of records.
    return { kind: beginsWithTurn(head) ? 'json-values' : 'json-array' };
  }
  const line = firstLine(head);
  const hasMore = !complete || head.length > line.length + 2;
  if (hasMore && parsed(line) !== undefined) return { kind: 'jsonl' };
  const wrapped = wrappedArray(head);
  return wrapped === null ? { kind: 'json-values' } : { kind: 'json-wrapped', ...wrapped };
}

function layoutByContent(head: Buffer, complete: boolean, name: string): FileLayout {
  const first = firstByte(head);
  if (first === '{' && isObject(parsed(firstLine(head)))) return { kind: 'jsonl' };
  if ((first === '{' || first === '[') && complete && parsed(head) !== undefined)
    return jsonLayout(head, true);
  if (first === '[' && !complete && isObject(firstElement(head))) return jsonLayout(head, false);
  if (first === '{' && !complete && wrappedArray(head) !== null) return jsonLayout(head, false);
  // A record longer than the head must get the same layout as a short one.
  if (!complete && beginsWithCutObject(head)) return jsonLayout(head, false);
  const table = csvLayout(head, complete, name);
  return isValidTable(head, table) ? table : textLayout(head, complete);
}

function textLayout(head: Buffer, complete: boolean): FileLayout {
  return { kind: beginsWithMessages(head, complete) ? 'chat' : 'text' };
}

/** Whether a head is a valid table and has known columns: prose with commas is not. */
function isValidTable(head: Buffer, dialect: CsvDialect): boolean {
  const reader = new CsvReader(dialect, head.length);
  const records = recordsOf(reader, head, false);
  const columns = reader.header?.names.length ?? 0;
  return (
    columns > 1 &&
    records.length > 0 &&
    records.every(({ content }) => content !== null) &&
    records.some(({ content }) => isFields(content) && isRecognised(content, 'final'))
  );
}

function firstByte(head: Buffer): string {
  return String.fromCharCode(head[skipSpace(head, 0)] ?? 0);
}

/** The first line that is not blank. */
function firstLine(head: Buffer): Buffer {
  const from = skipSpace(head, 0);
  const newline = head.indexOf(0x0a, from);
  return head.subarray(from, newline < 0 ? head.length : newline);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
