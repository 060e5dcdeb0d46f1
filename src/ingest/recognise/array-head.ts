import { isTurnLike } from '../../formats/transcripts/turns/roles.ts';
import { members, skipSpace, valueEnd } from '../../formats/json/scan.ts';
import { isList } from '../../formats/record.ts';

const LIST = '['.charCodeAt(0);
const OBJECT = '{'.charCodeAt(0);
const QUOTE = '"'.charCodeAt(0);

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
    const names = [...members(head, start)].map(({ name }) => name);
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
  const last = [...members(head, start)].at(-1);
  if (last === undefined || last.valueEnd < 0) return last !== undefined;
  const rest = head.toString('latin1', last.valueEnd).trim();
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
  if (isList(value)) return isTurnLike(value[0]);
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
