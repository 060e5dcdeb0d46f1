import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;

/** Replacement character for bytes that are not UTF-8. A text may also contain it legitimately. */
export const REPLACEMENT = '\ufffd';

/**
 * Whether the head of a file is not UTF-8: more than half of its non-empty lines are invalid, so a few bad records do
 * not count. `complete`: the head is the whole file; otherwise its last line is ignored, because it may end inside a
 * character.
 */
export function isMostlyNotUtf8(head: Buffer, complete: boolean): boolean {
  const end = complete ? head.length : head.lastIndexOf(NEWLINE) + 1;
  if (end === 0 || isUtf8(head.subarray(0, end))) return false;
  let bad = 0;
  let lines = 0;
  for (let from = 0; from < end;) {
    const newline = head.indexOf(NEWLINE, from);
    const to = newline < 0 ? end : newline;
    if (to > from) {
      lines++;
      if (!isUtf8(head.subarray(from, to))) bad++;
    }
    from = to + 1;
  }
  return bad * 2 > lines;
}
