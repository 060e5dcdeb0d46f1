/**
 * Characters of the bytes 0x80 to 0x9f; other bytes are as in ISO 8859-1. Source: index windows-1252 of the WHATWG
 * Encoding Standard, which defines all bytes. Node's TextDecoder is not used: Node 20 decodes these bytes as control
 * characters.
 */
const HIGH_CONTROLS =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

export function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (control) => HIGH_CONTROLS[control.charCodeAt(0) - 0x80]!);
}
