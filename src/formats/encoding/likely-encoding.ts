import { isAscii, isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';

const NEWLINE = 0x0a;

/** Replacement character for bytes that are not UTF-8. Text may also contain it legitimately. */
export const REPLACEMENT = '\ufffd';

/**
 * Whether the head of a file is not UTF-8: more than half of its non-empty lines are invalid, so a few bad records do
 * not matter. If the head is not the whole file (`complete`), its last line is ignored, because it may end inside a
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

/**
 * Whether the head of a file with an unknown encoding is in the encoding named for its folder, a WHATWG label: most of
 * its lines with non-ASCII bytes are not UTF-8.
 */
export function isInFolderEncoding(head: Buffer, label: string): boolean {
  const name = new TextDecoder(label).encoding;
  // These encodings can express other characters in ASCII bytes.
  if (name.startsWith('utf-16') && head.includes(0)) return true;
  if (name === 'iso-2022-jp' && head.includes(0x1b)) return true;
  let foreign = 0;
  let utf8 = 0;
  for (let from = 0; from < head.length;) {
    const newline = head.indexOf(NEWLINE, from);
    const line = head.subarray(from, newline < 0 ? head.length : newline);
    if (!isUtf8(line)) foreign++;
    else if (!isAscii(line)) utf8++;
    from = newline < 0 ? head.length : newline + 1;
  }
  return foreign > utf8;
}

/** Number of bytes that suffice to distinguish encodings. */
const SAMPLE_BYTES = 32 * 1024;

/** Guesses below this confidence (0 to 100) are discarded. */
const MIN_CONFIDENCE = 15;

/** Encodings of Latin letters differ little, so below this confidence the most common one is assumed. */
const MIN_LATIN_CONFIDENCE = 60;

const MOST_COMMON_LATIN = 'windows-1252';

/** WHATWG labels of encodings for scripts other than Latin. */
const OTHER_SCRIPTS =
  /^(?:shift_jis|euc-jp|iso-2022-jp|big5|euc-kr|gb18030|gbk|windows-(?:125[1356]|874)|koi8-[ru]|iso-8859-[5678](?:-i)?|ibm866|x-mac-cyrillic)$/;

/**
 * Guesses the encoding of the beginning of a text that is not UTF-8, as a WHATWG label; null if there is no good guess.
 */
export function likelyEncoding(head: Buffer): string | null {
  for (const { name, confidence } of analyse(head.subarray(0, SAMPLE_BYTES))) {
    if (confidence < MIN_CONFIDENCE) return null;
    const label = labelOf(name);
    if (label === null || label.startsWith('utf-')) continue;
    return OTHER_SCRIPTS.test(label) || confidence >= MIN_LATIN_CONFIDENCE ? label : MOST_COMMON_LATIN;
  }
  return null;
}

/** Null for an encoding that `TextDecoder` does not support. */
function labelOf(name: string): string | null {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return null;
  }
}
