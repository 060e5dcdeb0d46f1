/** Min length of encoded text in characters: a single line of words and names may use the same alphabet. */
const MIN_LENGTH = 128;

/** PEM (RFC 7468) and OpenPGP (RFC 9580): armor header line, armor headers, and a line of base64. */
const ARMOUR =
  /^-----BEGIN [A-Z0-9 ]{1,64}-----\r?\n(?:[A-Za-z-]{1,32}: [^\r\n]{0,256}\r?\n){0,8}(?:\r?\n)?[A-Za-z0-9+/=]{40}/;

const BASE64_LINE = /^[A-Za-z0-9+/_-]*={0,2}$/;
const HEX_LINE = /^(?:[0-9a-f]{2}[ :]?)*$/i;

/**
 * Whether a text consists of encoded bytes: uuencode, yEnc or BinHex by their first line; PEM and OpenPGP by their armor;
 * a data URL; or nothing but lines of equal width in base64 or hex. `isAll`: the text is the whole file.
 */
export function isEncodedText(text: string, isAll: boolean): boolean {
  return (
    isUuencoded(text) ||
    /^=ybegin (?:part=\d{1,9} )?(?:total=\d{1,9} )?line=\d{1,9} size=\d{1,18} /.test(text) ||
    /^\(This file must be converted with BinHex[^\r\n]{0,20}\)\s{1,8}:/.test(text) ||
    ARMOUR.test(text) ||
    /^data:[\w.+/-]{0,128}(?:;[\w=.-]{1,64}){0,8};base64,[A-Za-z0-9+/=%]{16}/.test(text) ||
    isOfOneAlphabet(text.trimEnd(), isAll)
  );
}

/** Checks the first line, and that the second line has the length that its first character encodes. */
function isUuencoded(text: string): boolean {
  if (/^begin-base64 [0-7]{3,4} \S/.test(text)) return true;
  const first = /^begin [0-7]{3,4} \S[^\r\n]{0,255}\r?\n/.exec(text);
  if (first === null) return false;
  const line = /^[\x20-\x60]{1,64}/.exec(text.slice(first[0].length))?.[0] ?? '';
  const bytes = (line.charCodeAt(0) - 0x20) & 0x3f;
  return bytes > 0 && Math.abs(line.length - 1 - Math.ceil(bytes / 3) * 4) <= 1;
}

function isOfOneAlphabet(text: string, isAll: boolean): boolean {
  if (text.length < MIN_LENGTH) return false;
  const lines = text.split(/\r?\n/);
  // The examined text may end within a line.
  const last = lines.pop()!;
  const width = lines[0]?.length ?? last.length;
  if (lines.some((line) => line.length !== width) || last.length > width) return false;
  const all = [...lines, last];
  if (all.every((line) => HEX_LINE.test(line))) return /\d/.test(text) && /[a-f]/i.test(text);
  const isBase64 = all.every((line) => BASE64_LINE.test(line));
  const isMixed = /[A-Z]/.test(text) && /[a-z]/.test(text) && /\d/.test(text);
  const letters = text.replace(/\s/g, '').length;
  return isBase64 && isMixed && (!isAll || letters % 4 !== 1);
}
