import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';

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

/** Bytes that are enough to tell encodings apart. */
const SAMPLE_BYTES = 32 * 1024;

/** Confidence, 0 … 100, below which a guess is none. */
const MIN_CONFIDENCE = 15;

/** Confidence from which the script of a text is certain. */
const CERTAIN_SCRIPT = 35;

/** The same for one of the encodings of Latin letters, which differ little. */
const CERTAIN_LATIN = 60;

const MOST_COMMON_LATIN = 'windows-1252';

/** Encodings of other scripts than Latin, as WHATWG labels; those of a line share letters. */
const SCRIPTS: readonly RegExp[] = [
  /^(?:shift_jis|euc-jp|iso-2022-jp|big5|euc-kr|gb18030|gbk)$/,
  /^(?:windows-1251|koi8-r|koi8-u|iso-8859-5|ibm866|x-mac-cyrillic)$/,
  /^(?:windows-1253|iso-8859-7)$/,
  /^(?:windows-1255|iso-8859-8|iso-8859-8-i)$/,
  /^(?:windows-1256|iso-8859-6)$/,
  /^windows-874$/,
];

/** The encoding that the beginning of a text in neither UTF-8 nor ASCII is most likely in, as a WHATWG label; null: no idea. */
export function likelyEncoding(head: Buffer): string | null {
  return guess(head)?.label ?? null;
}

/** Whether a text is certainly of a script, other than Latin, of which an encoding, a WHATWG label, has no letters. */
export function isOfOtherScript(head: Buffer, label: string): boolean {
  if (label.startsWith('utf-')) return false;
  const best = guess(head);
  if (best === null || best.confidence < CERTAIN_SCRIPT) return false;
  const script = scriptOf(best.label);
  return script !== -1 && script !== scriptOf(label);
}

function guess(head: Buffer): { readonly label: string; readonly confidence: number } | null {
  for (const { name, confidence } of analyse(head.subarray(0, SAMPLE_BYTES))) {
    if (confidence < MIN_CONFIDENCE) return null;
    const label = labelOf(name);
    if (label === null || label.startsWith('utf-')) continue;
    const isVague = scriptOf(label) === -1 && confidence < CERTAIN_LATIN;
    return { label: isVague ? MOST_COMMON_LATIN : label, confidence };
  }
  return null;
}

function scriptOf(label: string): number {
  return SCRIPTS.findIndex((labels) => labels.test(label));
}

/** Null for an encoding that no decoder knows. */
function labelOf(name: string): string | null {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    return null;
  }
}
