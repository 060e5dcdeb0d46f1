import { isUtf8 } from 'node:buffer';

const NEWLINE = 0x0a;

/** What decoding puts in the place of bytes that are not UTF-8; a text may also hold it by right. */
export const REPLACEMENT = '\ufffd';

/**
 * Whether a head of a file is in some other encoding than UTF-8: more than half of its lines are not UTF-8. A few bad
 * records in an otherwise sound file do not make it so. `complete` says that the head is the whole file; otherwise
 * its last line is left out, since the cut may fall inside a character.
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
