import { isUtf8 } from 'node:buffer';

/** Minimum length of encoded data in characters: a single line of words and names may use the same alphabet. */
const MIN_LENGTH = 64;
/** Minimum length of a single token that counts as encoded because it decodes to words. */
const MIN_TOKEN_LENGTH = 16;
/** Minimum number of different characters in such a token. */
const MIN_TOKEN_CHARACTERS = 8;
const MAX_DECODED_LENGTH = 4096;

/** PEM (RFC 7468) and OpenPGP (RFC 9580): armor header line, armor headers, and a line of base64. */
const ARMOUR =
  /^-----BEGIN [A-Z0-9 ]{1,64}-----\r?\n(?:[A-Za-z-]{1,32}: [^\r\n]{0,256}\r?\n){0,8}(?:\r?\n)?[A-Za-z0-9+/=]{40}/;

const BASE64_LINE = /^[A-Za-z0-9+/_-]+={0,2}$/;
const HEX_LINE = /^(?:[0-9a-f]{2}[ :]?)+$/i;

/** Characters given by number: HTML character references, quoted-printable. */
const ESCAPES = /&#(?:x[\da-f]{1,6}|\d{1,7});|=[\da-f]{2}/gi;
const MIN_ESCAPES = 8;

interface EncodedTextOptions {
  /** Whether the text is complete, rather than the beginning of one. */
  readonly isAll: boolean;
  /** How much of a text must be encoded for it to count as encoded; default: most of it. */
  readonly part?: 'most' | 'all';
}

/**
 * Whether a text is encoded: uuencode, yEnc or BinHex, by their first line; PEM and OpenPGP, by their armor; a data
 * URL; one token that decodes to words; or mostly lines of equal width in base64 or hex, or characters given by number.
 * Takes time in proportion to the length of the text.
 */
export function isEncodedText(text: string, { isAll, part = 'most' }: EncodedTextOptions): boolean {
  if (
    isUuencoded(text) ||
    /^=ybegin (?:part=\d{1,9} )?(?:total=\d{1,9} )?line=\d{1,9} size=\d{1,18} /.test(text) ||
    /^\(This file must be converted with BinHex[^\r\n]{0,20}\)\s{1,8}:/.test(text) ||
    ARMOUR.test(text) ||
    /^data:[\w.+/-]{0,128}(?:;[\w=.-]{1,64}){0,8};base64,[A-Za-z0-9+/=%]{4}/.test(text) ||
    (isAll && decodesToWords(text.trim()))
  ) {
    return true;
  }
  const length = Math.max(escapedLength(text), blocksLength(text, isAll));
  return length > 0 && length > text.replace(/\s+/g, '').length * LEAST[part];
}

/** A text is encoded if more than this fraction of its characters is, ignoring white space. */
const LEAST = { most: 0.5, all: 0.99 } as const;

/** Checks the first line, and that the second line has the length that its first character encodes. */
function isUuencoded(text: string): boolean {
  if (/^begin-base64 [0-7]{3,4} \S/.test(text)) return true;
  const first = /^begin [0-7]{3,4} \S[^\r\n]{0,255}\r?\n/.exec(text);
  if (first === null) return false;
  const line = /^[\x20-\x60]{1,64}/.exec(text.slice(first[0].length))?.[0] ?? '';
  const bytes = (line.charCodeAt(0) - 0x20) & 0x3f;
  return bytes > 0 && Math.abs(line.length - 1 - Math.ceil(bytes / 3) * 4) <= 1;
}

/** Number of characters in a text that belong to characters given by number. */
function escapedLength(text: string): number {
  const found = text.match(ESCAPES) ?? [];
  return found.length < MIN_ESCAPES ? 0 : found.join('').length;
}

/** Number of characters in a text that are in blocks of base64 or hex. */
function blocksLength(text: string, isAll: boolean): number {
  if (text.length < MIN_LENGTH) return 0;
  const lines = text.split(/\r?\n/);
  let length = 0;
  for (let at = 0; at < lines.length;) {
    const end = endOfBlock(lines, at);
    if (end > at) {
      const block = lines.slice(at, end);
      // The examined text may end within a line.
      if (isBlock(block, isAll || end < lines.length)) length += block.join('').replaceAll(' ', '').length;
    }
    at = Math.max(end, at + 1);
  }
  return length < MIN_LENGTH ? 0 : length;
}

/** Index after a block of lines of equal width in an alphabet of encodings, the last of which may be shorter. */
function endOfBlock(lines: readonly string[], start: number): number {
  const width = lines[start]!.length;
  const isEncoded = (line: string | undefined): line is string =>
    line !== undefined && (BASE64_LINE.test(line) || HEX_LINE.test(line));
  let end = start;
  while (lines[end]?.length === width && isEncoded(lines[end])) end++;
  const last = lines[end];
  return end > start && isEncoded(last) && last.length < width ? end + 1 : end;
}

function isBlock(lines: readonly string[], isAll: boolean): boolean {
  const text = lines.join('');
  if (lines.every((line) => HEX_LINE.test(line))) return /\d/.test(text) && /[a-f]/i.test(text);
  const isMixed = /[A-Z]/.test(text) && /[a-z]/.test(text) && /\d/.test(text);
  return lines.every((line) => BASE64_LINE.test(line)) && isMixed && (!isAll || text.length % 4 !== 1);
}

/** Whether a token of base64 or hex decodes to words. An id or a long word decodes to arbitrary bytes. */
function decodesToWords(token: string): boolean {
  // Hex is part of this alphabet; text with several words is rejected at its first space.
  if (token.length < MIN_TOKEN_LENGTH || !BASE64_LINE.test(token)) return false;
  const start = token.slice(0, MAX_DECODED_LENGTH);
  // A repeated letter decodes to letters too.
  if (new Set(start).size < MIN_TOKEN_CHARACTERS) return false;
  const isHex = /^(?:[\da-f]{2})+$/i.test(start) && /[a-f]/i.test(start);
  const bytes = Buffer.from(start, isHex ? 'hex' : 'base64');
  if (!isUtf8(bytes)) return false;
  const decoded = bytes.toString();
  return /\p{L}{2}/u.test(decoded) && !/[^\P{C}\s]/u.test(decoded);
}
