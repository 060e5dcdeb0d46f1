/**
 * Raw tensor contents of the KServe v2 protocol ("Tensor Data", raw representation): little-endian, row-major, without
 * padding. An element of a BYTES tensor is a uint32 length followed by its bytes. A BOOL is one byte, 0 or 1.
 */

/** Encodes a BYTES tensor of strings, in UTF-8. */
export function encodeStrings(values: readonly string[]): Buffer {
  let size = 0;
  for (const value of values) size += 4 + Buffer.byteLength(value);
  const raw = Buffer.allocUnsafe(size);
  let at = 0;
  for (const value of values) {
    const written = raw.write(value, at + 4);
    raw.writeUInt32LE(written, at);
    at += 4 + written;
  }
  return raw;
}

/** Encodes a BYTES tensor of these elements. */
export function encodeByteStrings(elements: readonly Buffer[]): Buffer {
  const raw = Buffer.allocUnsafe(elements.reduce((size, element) => size + 4 + element.length, 0));
  let at = 0;
  for (const element of elements) {
    raw.writeUInt32LE(element.length, at);
    element.copy(raw, at + 4);
    at += 4 + element.length;
  }
  return raw;
}

/** Encodes a BYTES tensor of one element: the bytes in base64 (RFC 4648, padded, without line breaks). */
export function encodeBase64(bytes: Buffer): Buffer {
  const length = base64Length(bytes.length);
  const raw = Buffer.allocUnsafe(4 + length);
  raw.writeUInt32LE(length);
  raw.write(bytes.toString('base64'), 4, 'latin1');
  return raw;
}

/** Length of the base64 of this number of bytes. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Counts the elements of a BYTES tensor without building a list of them. Null when the framing is invalid. */
export function countBytes(raw: Buffer): number | null {
  let count = 0;
  let at = 0;
  while (at < raw.length) {
    if (at + 4 > raw.length) return null;
    at += 4 + raw.readUInt32LE(at);
    count++;
  }
  return at === raw.length ? count : null;
}

/** The elements of a BYTES tensor, as views into `raw`. Null when the framing is invalid. */
export function decodeBytes(raw: Buffer): Buffer[] | null {
  const elements: Buffer[] = [];
  let at = 0;
  while (at < raw.length) {
    if (at + 4 > raw.length) return null;
    const end = at + 4 + raw.readUInt32LE(at);
    if (end > raw.length) return null;
    elements.push(raw.subarray(at + 4, end));
    at = end;
  }
  return elements;
}

export function encodeBooleans(values: readonly boolean[]): Buffer {
  return Buffer.from(values.map((value) => (value ? 1 : 0)));
}

/** Whether every byte is 0 or 1. */
export function areBooleans(raw: Buffer): boolean {
  for (let index = 0; index < raw.length; index++) if (raw[index]! > 1) return false;
  return true;
}

/** Decodes a BOOL tensor; null when a byte is neither 0 nor 1. */
export function decodeBooleans(raw: Buffer): boolean[] | null {
  return areBooleans(raw) ? Array.from(raw, (byte) => byte === 1) : null;
}

export function encodeFloats(values: ArrayLike<number>): Buffer {
  const raw = Buffer.allocUnsafe(values.length * 4);
  for (let index = 0; index < values.length; index++) raw.writeFloatLE(values[index]!, index * 4);
  return raw;
}

/** Decodes an FP32 tensor; null when its length is not a multiple of the element size. */
export function decodeFloats(raw: Buffer): Float32Array | null {
  if (raw.length % 4 !== 0) return null;
  const values = new Float32Array(raw.length / 4);
  for (let index = 0; index < values.length; index++) values[index] = raw.readFloatLE(index * 4);
  return values;
}

export function encodeInts(values: ArrayLike<number>): Buffer {
  const raw = Buffer.allocUnsafe(values.length * 4);
  for (let index = 0; index < values.length; index++) raw.writeInt32LE(values[index]!, index * 4);
  return raw;
}

/** Decodes an INT32 tensor; null when its length is not a multiple of the element size. */
export function decodeInts(raw: Buffer): Int32Array | null {
  if (raw.length % 4 !== 0) return null;
  const values = new Int32Array(raw.length / 4);
  for (let index = 0; index < values.length; index++) values[index] = raw.readInt32LE(index * 4);
  return values;
}
