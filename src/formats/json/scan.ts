const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** A name of an object, and the start and end offsets of its value. */
interface Member {
  readonly name: string;
  readonly valueStart: number;
  /** Exclusive; -1 if the value does not end within the bytes. */
  readonly findValueEnd: number;
}

/** Offset of the first byte at or after `from` that is not JSON white space; the length if there is none. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at]!)) at++;
  return at;
}

/**
 * Offset after the JSON value that starts at `from`, found by brackets and quotes alone, without validating the JSON.
 * -1 if the value does not end within the bytes.
 */
export function valueEnd(bytes: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === QUOTE) {
      at = findStringEnd(bytes, at) - 1;
      if (at < 0) return -1;
      if (depth === 0) return at + 1;
    } else if (isOpening(byte)) {
      depth++;
    } else if (isClosing(byte)) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (byte === COMMA || isSpace(byte))) {
      return at;
    }
  }
  return -1;
}

/** Yields the members of the object that starts at `from`, in order, as far as the bytes contain them. */
export function* listMembers(bytes: Buffer, from: number): Generator<Member, void> {
  let at = skipSpace(bytes, from + 1);
  while (bytes[at] === QUOTE) {
    const nameEnd = findStringEnd(bytes, at);
    if (nameEnd < 0) return;
    const name = parseName(bytes, at, nameEnd);
    const colon = skipSpace(bytes, nameEnd);
    if (name === null || bytes[colon] !== COLON) return;
    const valueStart = skipSpace(bytes, colon + 1);
    const end = valueEnd(bytes, valueStart);
    yield { name, valueStart, findValueEnd: end };
    if (end < 0) return;
    at = skipSpace(bytes, end);
    if (bytes[at] !== COMMA) return;
    at = skipSpace(bytes, at + 1);
  }
}

/** Offset after the string that starts at `from`; -1 if it does not end within the bytes. */
function findStringEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return -1;
}

function parseName(bytes: Buffer, from: number, to: number): string | null {
  try {
    return JSON.parse(bytes.toString('utf8', from, to)) as string;
  } catch {
    return null;
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d;
}

function isOpening(byte: number): boolean {
  return byte === 0x5b || byte === 0x7b;
}

function isClosing(byte: number): boolean {
  return byte === 0x5d || byte === 0x7d;
}
