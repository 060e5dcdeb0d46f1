import { analyse } from 'chardet';

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
