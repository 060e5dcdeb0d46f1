import { isUtf8 } from 'node:buffer';
import { itemError } from '../../domain/item-error.ts';
import { REPLACEMENT } from '../encoding/validity.ts';
import { badRecord, type ByteSpan, isList, type RecordContent, type SourceRecord } from '../record.ts';
import { JsonFields } from './json-fields.ts';
import { spokenList } from '../transcripts/turns/speakers.ts';
import { hasRepeatedNames } from './repeated-names.ts';
import { isNestedTooDeeply } from './nesting.ts';

/** Makes a record from one JSON value. `span` is absent for a value that is put together from several parts of a file. */
export function jsonRecord(bytes: Buffer, row: number, line: number, span?: ByteSpan): SourceRecord {
  const text = bytes.toString();
  if (text.includes(REPLACEMENT) && !isUtf8(bytes)) {
    return badRecord(row, line, itemError('INVALID_ENCODING', 'the record holds bytes that are not text'));
  }
  if (isNestedTooDeeply(bytes)) {
    return badRecord(row, line, itemError('MALFORMED_ROW', 'the record is nested too deeply'));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text around the error, so it must not be reported.
    return badRecord(row, line, itemError('MALFORMED_ROW', 'the record is not valid JSON'));
  }
  if (hasRepeatedNames(text, value)) {
    return badRecord(row, line, itemError('MALFORMED_ROW', 'an object in the record has a duplicate name'));
  }
  const content = recordContent(value, bytes);
  if (content === null) {
    const error = itemError('MALFORMED_ROW', 'the record is not an object, a string or a list of turns');
    return badRecord(row, line, error);
  }
  return { row, line, ...(span !== undefined && { span }), content, error: null };
}

/** The content of a JSON value; null if nothing in it can be judged. */
function recordContent(value: unknown, bytes: Buffer): RecordContent | null {
  if (typeof value === 'string') return value;
  if (isList(value)) return isTurnLike(value[0]) || spokenList(value) !== null ? value : null;
  return typeof value === 'object' && value !== null ? new JsonFields(value, bytes) : null;
}

/** Whether a value looks like one turn of a conversation: a role and content, by name or as a pair. */
export function isTurnLike(value: unknown): boolean {
  if (isList(value)) return value.length === 2 && typeof value[0] === 'string';
  if (typeof value !== 'object' || value === null) return false;
  const named = (role: string, content: string): boolean =>
    Object.hasOwn(value, role) &&
    [content, 'tool_calls', 'function_call'].some((name) => Object.hasOwn(value, name));
  return named('role', 'content') || named('from', 'value');
}
