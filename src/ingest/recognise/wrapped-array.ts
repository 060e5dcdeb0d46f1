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

/** Levels of objects around an array of records. */
const MAX_LEVELS = 2;

/**
 * The array of records in an object that is there for its sake, such as `{"version": 1, "data": [{…}, …]}`: the first
 * in the object itself, else the first in an object in it. Null when there is none in the head, or what stands before
 * it makes a record of the object. It is told by what the head holds up to the first record, whatever follows.
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

/** Offset of the first array of records that is so many levels in an object; -1 when there is none. */
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

/** Whether an array holds objects that are no turns of a conversation. */
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
