import { isUtf8 } from 'node:buffer';

/**
 * File names are bytes, but records are text. The encoded form of a path is its bytes decoded as UTF-8. A byte that is
 * not part of a UTF-8 character is escaped as `\xHH` in lower case, and so is a backslash before a literal `xHH`
 * (`\x5c`), which keeps the form unambiguous.
 */

const ESCAPE = /\\x([0-9a-f]{2})/g;
const HAS_ESCAPE = /\\x[0-9a-f]{2}/;

/** Encodes a path for a record. */
export function encodePath(path: Buffer | string): string {
  if (typeof path === 'string') return escapedText(path);
  return isUtf8(path) ? escapedText(path.toString()) : escapedBytes(path);
}

/** Decodes an encoded path for file system functions. */
export function decodePath(recorded: string): string | Buffer {
  if (!HAS_ESCAPE.test(recorded)) return recorded;
  const parts: Buffer[] = [];
  let at = 0;
  for (const { 0: escape, 1: digits, index } of recorded.matchAll(ESCAPE)) {
    parts.push(Buffer.from(recorded.slice(at, index)), Buffer.from(digits!, 'hex'));
    at = index + escape.length;
  }
  parts.push(Buffer.from(recorded.slice(at)));
  const bytes = Buffer.concat(parts);
  return isUtf8(bytes) ? bytes.toString() : bytes;
}

/** Whether a string is an encoded path. An escape must not hide a character such as a separator or a dot. */
export function isEncodedPath(path: string): boolean {
  return encodePath(decodePath(path)) === path;
}

function escapedText(path: string): string {
  return path.replaceAll(ESCAPE, '\\x5cx$1');
}

function escapedBytes(path: Buffer): string {
  let recorded = '';
  let from = 0;
  for (let at = 0; at < path.length;) {
    const length = characterBytes(path, at);
    if (length === 0) {
      recorded += escapedText(path.toString('utf8', from, at)) + hexEscape(path[at]!);
      from = at + 1;
    }
    at += Math.max(1, length);
  }
  return recorded + escapedText(path.toString('utf8', from));
}

function hexEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** Length in bytes of the UTF-8 character at a position; 0 if there is none. */
function characterBytes(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const character = bytes.subarray(at, at + length);
  return character.length === length && isUtf8(character) ? length : 0;
}
