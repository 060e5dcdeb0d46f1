import { damaged } from './parquet-problem.ts';

/**
 * Decodes `count` integers of `bitWidth` bits from the hybrid of run lengths and bit-packed groups (Encodings.md of
 * Parquet, RLE). Takes time linear in `count` plus the bytes.
 */
export function readHybrid(bytes: Buffer, bitWidth: number, count: number): Uint32Array {
  if (bitWidth > 32) throw damaged('a bit width is not valid');
  const output = new Uint32Array(count);
  if (bitWidth === 0) return output;
  const valueBytes = Math.ceil(bitWidth / 8);
  const modulus = 2 ** bitWidth;
  let at = 0;
  let seen = 0;
  while (seen < count) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++];
      if (byte === undefined || shift > 28) throw damaged('a page ends early');
      header += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) break;
    }
    const length = Math.floor(header / 2);
    if (header % 2 === 0) {
      if (at + valueBytes > bytes.length) throw damaged('a page ends early');
      const value = bytes.readUIntLE(at, valueBytes);
      at += valueBytes;
      const end = Math.min(count, seen + length);
      output.fill(value, seen, end);
      seen = end;
      continue;
    }
    const groupEnd = at + length * bitWidth;
    let buffered = 0;
    let bits = 0;
    const end = Math.min(count, seen + length * 8);
    for (; seen < end; seen++) {
      while (bits < bitWidth) {
        const byte = bytes[at++];
        if (byte === undefined) throw damaged('a page ends early');
        // Up to 39 bits: more than the operators for bits can hold.
        buffered += byte * 2 ** bits;
        bits += 8;
      }
      output[seen] = buffered % modulus;
      buffered = Math.floor(buffered / modulus);
      bits -= bitWidth;
    }
    at = groupEnd;
  }
  return output;
}

/** Bits of a number up to `max`. */
export function bitsFor(max: number): number {
  return 32 - Math.clz32(max);
}
