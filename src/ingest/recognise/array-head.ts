import { JsonFields } from '../../formats/json/json-fields.ts';
import { listMembers, skipSpace, valueEnd } from '../../formats/json/scan.ts';
import type { WrappedArray } from '../../formats/json/wrapped-reader.ts';
import { isReadonlyArray } from '../../formats/record.ts';
import { findKnownColumn } from '../../formats/transcripts/columns.ts';
import { draftShape } from '../../formats/transcripts/layouts/shapes.ts';
import { isChat } from '../../formats/transcripts/turns/conversation.ts';
import { isTurnLike } from '../../formats/transcripts/turns/roles.ts';
import { readUtterances } from '../../formats/transcripts/turns/utterances.ts';

const LIST = '['.charCodeAt(0);
const OBJECT = '{'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);
const COMMA = ','.charCodeAt(0);
const LF = 0x0a;

/** The first element of the array that begins in `head`; undefined if it does not end there or is not JSON. */
export function firstElement(head: Buffer): unknown {
  const start = firstElementStart(head);
  const end = valueEnd(head, start);
  return end < 0 ? undefined : parsed(head.subarray(start, end));
}

/**
 * Whether the first element of the array that begins in `head` is a turn of a conversation. If it does not end in the
 * head, its beginning decides.
 */
export function beginsWithTurn(head: Buffer): boolean {
  const start = firstElementStart(head);
  const end = valueEnd(head, start);
  if (end >= 0) return isTurnLike(parsed(head.subarray(start, end)));
  if (head[start] === OBJECT) {
    const names = [...listMembers(head, start)].map(({ name }) => name);
    return names.includes('role') || names.includes('from');
  }
  return head[start] === LIST && head[skipSpace(head, start + 1)] === QUOTE;
}

/** Whether the first element of the array that begins in `head` is an object, but not a turn. */
export function beginsWithRecord(head: Buffer): boolean {
  return head[firstElementStart(head)] === OBJECT && !beginsWithTurn(head);
}

/**
 * Whether `head` begins with an object, or an array of objects, whose first object is valid so far and does not end in
 * the head.
 */
export function beginsWithCutObject(head: Buffer): boolean {
  const first = skipSpace(head, 0);
  const start = head[first] === LIST ? firstElementStart(head) : first;
  if (head[start] !== OBJECT) return false;
  const last = [...listMembers(head, start)].at(-1);
  if (last === undefined || last.findValueEnd < 0) return last !== undefined;
  const rest = head.toString('latin1', last.findValueEnd).trim();
  return rest === '' || (rest.startsWith(',') && !rest.includes(':'));
}

/**
 * Whether a line begins an array that the next line continues. Otherwise the line is a record of its own, which may be
 * malformed or truncated.
 */
export function isOpenArray(line: Buffer, next: Buffer): boolean {
  const from = skipSpace(line, firstElementStart(line));
  const opening = line[from];
  if (opening !== undefined && opening !== LIST && opening !== OBJECT && opening !== QUOTE) return false;
  const start = skipSpace(line, 0);
  const isClosed = valueEnd(line, start) >= 0;
  if (isClosed || endsInString(line)) return false;
  const last = line.toString('latin1').trimEnd().at(-1)!;
  const isContinued = '[{,:'.includes(last) || /^[\],}]/.test(next.toString('latin1', 0, 1));
  return isContinued && !(beginsWithTurn(line) && isRecord(parsed(next)));
}

/** Whether a value is a record, but not a turn of a conversation. */
function isRecord(value: unknown): boolean {
  if (isReadonlyArray(value)) return isTurnLike(value[0]);
  return typeof value === 'object' && value !== null && !isTurnLike(value);
}

/** Whether a line ends inside a JSON string, which is impossible in valid JSON. */
function endsInString(line: Buffer): boolean {
  const quotes = line.toString('latin1').replace(/\\./g, '').split('"').length - 1;
  return quotes % 2 === 1;
}

function firstElementStart(head: Buffer): number {
  return skipSpace(head, head.indexOf(LIST) + 1);
}

/** The value of a JSON text; undefined if it is not valid JSON. */
export function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    return undefined;
  }
}

/** Max levels of objects around an array of records. */
const MAX_LEVELS = 2;

/**
 * Finds the array of records in a wrapper object such as `{"version": 1, "data": [{…}, …]}`: the first in the object
 * itself, otherwise the first in a nested object. Null if there is none in the head, or if the members before it make
 * the object itself a record. Chat messages count as records too.
 */
export function wrappedArray(head: Buffer): WrappedArray | null {
  const object = skipSpace(head, 0);
  if (head[object] !== OBJECT) return null;
  // Consecutive objects are records themselves.
  const end = valueEnd(head, object);
  if (end >= 0 && head[skipSpace(head, end)] === OBJECT) return null;
  for (let levels = 1; levels <= MAX_LEVELS; levels++) {
    const start = arrayIn(head, object, levels);
    if (start < 0) continue;
    const inPlace = isOfMessages(head.subarray(start)) ? 'null' : '[]';
    const before = parsed(
      Buffer.concat([head.subarray(object, start), Buffer.from(inPlace + '}'.repeat(levels))]),
    );
    if (typeof before !== 'object' || before === null) return null;
    const fields = new JsonFields(before, null);
    if (findKnownColumn(fields) !== null || draftShape(fields, 'final') !== null) return null;
    return { start, line: linesIn(head.subarray(0, start)) + 1 };
  }
  return null;
}

/** Offset of the first array of records at exactly this nesting level of an object; -1 if there is none. */
function arrayIn(head: Buffer, object: number, levels: number): number {
  for (const { valueStart } of listMembers(head, object)) {
    if (levels > 1) {
      const start = head[valueStart] === OBJECT ? arrayIn(head, valueStart, levels - 1) : -1;
      if (start >= 0) return start;
    } else if (head[valueStart] === LIST && isOfRecords(head.subarray(valueStart))) {
      return valueStart;
    }
  }
  return -1;
}

/** Whether the first element of an array is a record or a message of a chat, but not a turn of a conversation. */
function isOfRecords(array: Buffer): boolean {
  if (!beginsWithRecord(array)) return false;
  const first = firstElement(array);
  return first === undefined || readUtterances([first]) === null || isOfMessages(array);
}

/** Elements of an array to examine: a chat may begin with notices. */
const EXAMINED_ELEMENTS = 20;

/** Whether an array holds the messages of a chat, by its first elements in the head. */
function isOfMessages(array: Buffer): boolean {
  const elements: unknown[] = [];
  let at = firstElementStart(array);
  while (elements.length < EXAMINED_ELEMENTS) {
    const end = valueEnd(array, at);
    if (end < 0) break;
    elements.push(parsed(array.subarray(at, end)));
    const comma = skipSpace(array, end);
    if (array[comma] !== COMMA) break;
    at = skipSpace(array, comma + 1);
  }
  const spoken = readUtterances(elements);
  return spoken !== null && isChat(spoken);
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
