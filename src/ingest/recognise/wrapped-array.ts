import { JsonFields } from '../../formats/json/json-fields.ts';
import { members, skipSpace, valueEnd } from '../../formats/json/scan.ts';
import type { WrappedArray } from '../../formats/json/wrapped-reader.ts';
import { draftKnownColumn } from '../../formats/transcripts/columns.ts';
import { draftShape } from '../../formats/transcripts/layouts/shapes.ts';
import { spokenList } from '../../formats/transcripts/turns/speakers.ts';
import { beginsWithRecord, firstElement, parsed } from './array-head.ts';

const LIST = '['.charCodeAt(0);
const OBJECT = '{'.charCodeAt(0);
const LF = 0x0a;

/** Max levels of objects around an array of records. */
const MAX_LEVELS = 2;

/**
 * The array of records in a wrapper object such as `{"version": 1, "data": [{…}, …]}`: the first in the object itself,
 * otherwise the first in a nested object. Null if there is none in the head, or if the members before it make the object
 * itself a record. Depends only on the head up to the first record.
 */
export function wrappedArray(head: Buffer): WrappedArray | null {
  const object = skipSpace(head, 0);
  if (head[object] !== OBJECT) return null;
  // Objects one after another are records themselves.
  const end = valueEnd(head, object);
  if (end >= 0 && head[skipSpace(head, end)] === OBJECT) return null;
  for (let levels = 1; levels <= MAX_LEVELS; levels++) {
    const start = arrayIn(head, object, levels);
    if (start < 0) continue;
    const before = parsed(
      Buffer.concat([head.subarray(object, start), Buffer.from('[]' + '}'.repeat(levels))]),
    );
    if (typeof before !== 'object' || before === null) return null;
    const fields = new JsonFields(before, null);
    if (draftKnownColumn(fields) !== null || draftShape(fields, 'final') !== null) return null;
    return { start, line: linesIn(head.subarray(0, start)) + 1 };
  }
  return null;
}

/** Offset of the first array of records at exactly this nesting level of an object; -1 if there is none. */
function arrayIn(head: Buffer, object: number, levels: number): number {
  for (const { valueStart } of members(head, object)) {
    if (levels > 1) {
      const start = head[valueStart] === OBJECT ? arrayIn(head, valueStart, levels - 1) : -1;
      if (start >= 0) return start;
    } else if (head[valueStart] === LIST && isOfRecords(head.subarray(valueStart))) {
      return valueStart;
    }
  }
  return -1;
}

/** Whether the first element of an array is an object, but not a turn of a conversation. */
function isOfRecords(array: Buffer): boolean {
  if (!beginsWithRecord(array)) return false;
  const first = firstElement(array);
  return first === undefined || spokenList([first]) === null;
}

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LF); at >= 0; at = bytes.indexOf(LF, at + 1)) lines++;
  return lines;
}
