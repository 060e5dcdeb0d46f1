import { type SourceConfig } from '../config/run-config.ts';
import { CsvReader, type CsvDialect } from '../formats/csv/csv-reader.ts';
import { sniffDelimiter, sniffLineBreak } from '../formats/csv/delimiter.ts';
import { isTurnLike } from '../formats/json/json-record.ts';
import { isFields, isList } from '../formats/record.ts';
import { recognise } from '../formats/transcripts/draft-record.ts';

/** How the records of a file are laid out. */
export type RecordLayout =
  | ({ readonly kind: 'csv' } & CsvDialect)
  | { readonly kind: 'jsonl' }
  /** The elements of one array. */
  | { readonly kind: 'json-array' }
  /** JSON values one after another, or a single one. */
  | { readonly kind: 'json-values' };

/** A file holds records, or is one text as a whole. */
export type FileLayout = RecordLayout | { readonly kind: 'text' };

/**
 * The layout of a file, from its UTF-8 head: the forced one, else the one its name says unless the content speaks
 * against it, else the one the content looks like. `complete` says that the head is the whole file.
 */
export function recogniseLayout(
  head: Buffer,
  complete: boolean,
  path: string,
  forced: SourceConfig['layout'],
): FileLayout {
  const name = path.toLowerCase().replace(/\.gz$/, '');
  switch (forced ?? layoutByName(name)) {
    case 'csv':
      return forced === null && isObject(parsed(firstLine(head))) ? { kind: 'jsonl' } : csvLayout(head, name);
    case 'jsonl':
      return forced === null ? jsonlLayout(head) : { kind: 'jsonl' };
    case 'json':
      return jsonLayout(head, complete);
    case 'text':
      return { kind: 'text' };
    case null:
      return layoutByContent(head, complete, name);
  }
}

/** The layout a file's name says it has; null for other names. */
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

function csvLayout(head: Buffer, name: string): { readonly kind: 'csv' } & CsvDialect {
  const delimiter = sniffDelimiter(head, name.endsWith('.tsv') ? '\t' : null);
  return { kind: 'csv', delimiter, lineBreak: sniffLineBreak(head) };
}

/** A file named as JSON Lines may turn out to be one array. */
function jsonlLayout(head: Buffer): FileLayout {
  if (firstByte(head) !== '[') return { kind: 'jsonl' };
  const line = parsed(firstLine(head));
  const isRow = isList(line) && (line.length === 0 || !isObject(line[0]) || isTurnLike(line[0]));
  return { kind: isRow ? 'jsonl' : 'json-array' };
}

function jsonLayout(head: Buffer, complete: boolean): FileLayout {
  if (firstByte(head) === '[') {
    // An array of turns is one conversation, not a list of records.
    return { kind: isTurnLike(firstElement(head)) ? 'json-values' : 'json-array' };
  }
  const line = firstLine(head);
  const hasMore = !complete || head.length > line.length + 2;
  return { kind: hasMore && parsed(line) !== undefined ? 'jsonl' : 'json-values' };
}

function layoutByContent(head: Buffer, complete: boolean, name: string): FileLayout {
  const first = firstByte(head);
  if (first === '{' && isObject(parsed(firstLine(head)))) return { kind: 'jsonl' };
  if ((first === '{' || first === '[') && complete && parsed(head) !== undefined)
    return jsonLayout(head, true);
  if (first === '[' && !complete && isObject(firstElement(head))) return jsonLayout(head, false);
  const table = csvLayout(head, name);
  return isSoundTable(head, table) ? table : { kind: 'text' };
}

/** Whether a head reads as a table without a flaw and has columns we know: prose with commas does not. */
function isSoundTable(head: Buffer, dialect: CsvDialect): boolean {
  const reader = new CsvReader(dialect, head.length);
  const records = reader.push(head);
  const columns = reader.header?.names.length ?? 0;
  return (
    columns > 1 &&
    records.length > 0 &&
    records.every(({ content }) => content !== null) &&
    records.some(({ content }) => isFields(content) && recognise(content, 'final') !== null)
  );
}

function firstByte(head: Buffer): string {
  return /\S/.exec(head.toString('latin1', 0, 4096))?.[0] ?? '';
}

/** The first line that is not blank. */
function firstLine(head: Buffer): Buffer {
  let from = 0;
  while (from < head.length && head[from]! <= 0x20) from++;
  const newline = head.indexOf(0x0a, from);
  return head.subarray(from, newline < 0 ? head.length : newline);
}

/** The value of a JSON text; undefined when it is none. */
function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** Brackets at which the first element of an array may end that are tried before giving up. */
const ENDS_TRIED = 200;

/** The first element of the array that begins in `head`; undefined when it does not end there. */
function firstElement(head: Buffer): unknown {
  const start = head.indexOf('[') + 1;
  let tried = 0;
  for (let at = start; at < head.length && tried < ENDS_TRIED; at++) {
    if (head[at] !== 0x5d && head[at] !== 0x7d) continue;
    tried++;
    const value = parsed(head.subarray(start, at + 1));
    if (value !== undefined) return value;
  }
  return undefined;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
