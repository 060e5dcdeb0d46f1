import { isUtf8 } from 'node:buffer';
import { itemError } from '../../domain/item-error.ts';
import { REPLACEMENT } from '../encoding/likely-encoding.ts';
import {
  badRecord,
  type ByteSpan,
  isReadonlyArray,
  type RecordContent,
  type SourceRecord,
} from '../record.ts';
import { isTurnLike } from '../transcripts/turns/roles.ts';
import { readUtterances } from '../transcripts/turns/utterances.ts';
import { JsonFields } from './json-fields.ts';

/** Makes a record from one JSON value. `span` is absent if the value consists of several parts of a file. */
export function parseJsonRecord(bytes: Buffer, row: number, line: number, span?: ByteSpan): SourceRecord {
  const text = bytes.toString();
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) {
    const error = itemError('INVALID_ENCODING', 'the record holds bytes that are not text');
    return badRecord(row, line, error);
  }
  if (isNestedTooDeeply(bytes)) {
    return badRecord(row, line, itemError('MALFORMED_ROW', 'the record is nested too deeply'));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text around the error, so it must not be reported.
    return {
      ...badRecord(row, line, itemError('MALFORMED_ROW', 'the record is not valid JSON')),
      isBroken: true,
    };
  }
  if (hasRepeatedNames(text, value)) {
    return badRecord(row, line, itemError('MALFORMED_ROW', 'an object in the record has a duplicate name'));
  }
  const content = toContent(value, bytes);
  if (content === null) {
    const error = itemError('MALFORMED_ROW', 'the record is not an object, a string or a list of turns');
    return badRecord(row, line, error);
  }
  return { row, line, ...(span !== undefined && { span }), content, error: null };
}

/** The content of a JSON value; null if nothing in it can be judged. */
function toContent(value: unknown, bytes: Buffer): RecordContent | null {
  if (typeof value === 'string') return value;
  if (isReadonlyArray(value)) return isTurnLike(value[0]) || readUtterances(value) !== null ? value : null;
  return typeof value === 'object' && value !== null ? new JsonFields(value, bytes) : null;
}

/** Characters between tokens of valid JSON are white space if they are at or below this code. */
const SPACE = 0x20;

/**
 * Whether any object in JSON text has a duplicate name. The parser keeps only the last value under a name. `value` is the parsed
 * text. Jumps from quote to quote, so long strings are cheap.
 */
export function hasRepeatedNames(json: string, value: unknown): boolean {
  return typeof value === 'object' && value !== null && countWrittenNames(json) !== countKeptNames(value);
}

/** Counts the names in valid JSON text: strings followed by a colon. */
function countWrittenNames(json: string): number {
  let names = 0;
  for (let open = json.indexOf('"'); open >= 0;) {
    let end = json.indexOf('"', open + 1);
    while (isEscaped(json, end)) end = json.indexOf('"', end + 1);
    let next = end + 1;
    while (json.charCodeAt(next) <= SPACE) next++;
    if (json[next] === ':') names++;
    open = json.indexOf('"', next);
  }
  return names;
}

/** Whether the character at an index follows an odd number of backslashes. */
function isEscaped(json: string, index: number): boolean {
  let from = index;
  while (json[from - 1] === '\\') from--;
  return (index - from) % 2 === 1;
}

/** Counts the names in all objects of a parsed value. */
function countKeptNames(value: object): number {
  let names = 0;
  const left: object[] = [value];
  for (let object = left.pop(); object !== undefined; object = left.pop()) {
    const values: unknown[] = Array.isArray(object) ? object : Object.values(object);
    if (!Array.isArray(object)) names += values.length;
    for (const inner of values) if (typeof inner === 'object' && inner !== null) left.push(inner);
  }
  return names;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Deeper than any known record. `JSON.parse` needs memory for every level. */
const MAX_DEPTH = 10_000;

/** Values up to this size are cheap to parse at any depth. */
const HARMLESS_BYTES = 256 * 1024;

/** Whether parsing this JSON would take disproportionate memory. */
export function isNestedTooDeeply(bytes: Buffer): boolean {
  if (bytes.length <= HARMLESS_BYTES) return false;
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) {
      inString = true;
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (byte === 0x5d || byte === 0x7d) {
      depth--;
    }
  }
  return false;
}
