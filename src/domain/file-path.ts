import { isUtf8 } from 'node:buffer';

/**
 * Names of files are bytes, and records are text. A path is recorded as the text that its bytes are in UTF-8; a byte
 * that is part of no UTF-8 character as `\xHH` in lower case; and a backslash that stands before `xHH` in a name as
 * `\x5c`, so that the form has one meaning.
 */

const ESCAPE = /\\x([0-9a-f]{2})/g;
const HAS_ESCAPE = /\\x[0-9a-f]{2}/;

/** The recorded form of a path. */
export function recordedPath(path: Buffer | string): string {
  if (typeof path === 'string') return escapedText(path);
  return isUtf8(path) ? escapedText(path.toString()) : escapedBytes(path);
}

/** The path that a recorded form stands for, as functions of the file system take it. */
export function systemPath(recorded: string): string | Buffer {
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

/** Whether a text is the recorded form of some path, rather than one that hides a separator or a dot in an escape. */
export function isRecordedPath(path: string): boolean {
  return recordedPath(systemPath(path)) === path;
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

/** Length of the UTF-8 character at a position; 0 when there is none. */
function characterBytes(bytes: Buffer, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const character = bytes.subarray(at, at + length);
  return character.length === length && isUtf8(character) ? length : 0;
}
