import { readHybrid } from './levels.ts';
import { damaged, unsupported } from './parquet-problem.ts';

/** Physical types, and bytes of a value; null for those that state their length. */
export const WIDTHS: Readonly<Record<string, number | null>> = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
  BYTE_ARRAY: null,
  FIXED_LEN_BYTE_ARRAY: null,
};

export interface PhysicalType {
  readonly type: string;
  /** Of FIXED_LEN_BYTE_ARRAY. */
  readonly length: number | undefined;
}

/**
 * Decodes the `count` values of a page. Each is the bytes it has in the encoding PLAIN, without a length; a boolean is one
 * byte. The values are views of `bytes` or of the dictionary where possible.
 */
export function readValues(
  bytes: Buffer,
  encoding: string | undefined,
  count: number,
  physical: PhysicalType,
  dictionary: readonly Buffer[] | null,
): readonly Buffer[] {
  switch (encoding) {
    case 'PLAIN':
      return plain(bytes, count, physical);
    case 'PLAIN_DICTIONARY':
    case 'RLE_DICTIONARY':
      return fromDictionary(bytes, count, dictionary);
    case 'RLE':
      if (physical.type !== 'BOOLEAN') throw damaged('an encoding does not fit its column');
      return [...readHybrid(withoutLength(bytes), 1, count)].map((bit) => BOOLEANS[bit]!);
    case 'DELTA_BINARY_PACKED':
      return deltaIntegers(bytes, count, physical);
    case 'DELTA_LENGTH_BYTE_ARRAY': {
      const { values: lengths, end } = readDeltas(bytes, count);
      return byLengths(bytes.subarray(end), lengths.map(Number));
    }
    case 'DELTA_BYTE_ARRAY':
      return deltaBytes(bytes, count);
    case 'BYTE_STREAM_SPLIT':
      return split(bytes, count, physical);
    default:
      throw unsupported('uses an unknown encoding');
  }
}

const BOOLEANS = [Buffer.of(0), Buffer.of(1)] as const;

function plain(bytes: Buffer, count: number, physical: PhysicalType): readonly Buffer[] {
  if (physical.type === 'BOOLEAN') {
    if (count > bytes.length * 8) throw damaged('a page ends early');
    return Array.from({ length: count }, (_, index) => BOOLEANS[(bytes[index >> 3]! >> (index & 7)) & 1]!);
  }
  if (physical.type !== 'BYTE_ARRAY') {
    const width = widthOf(physical);
    if (count * width > bytes.length) throw damaged('a page ends early');
    return Array.from({ length: count }, (_, index) => bytes.subarray(index * width, (index + 1) * width));
  }
  if (count * 4 > bytes.length) throw damaged('a page ends early');
  const values = new Array<Buffer>(count);
  let at = 0;
  for (let index = 0; index < count; index++) {
    const length = at + 4 <= bytes.length ? bytes.readUInt32LE(at) : Infinity;
    at += 4;
    if (length > bytes.length - at) throw damaged('a page ends early');
    values[index] = bytes.subarray(at, (at += length));
  }
  return values;
}

export function widthOf({ type, length }: PhysicalType): number {
  const width = type === 'FIXED_LEN_BYTE_ARRAY' ? length : WIDTHS[type];
  if (typeof width !== 'number' || width < 1) throw damaged('the type of a column is not valid');
  return width;
}

function fromDictionary(
  bytes: Buffer,
  count: number,
  dictionary: readonly Buffer[] | null,
): readonly Buffer[] {
  if (count === 0) return [];
  if (dictionary === null) throw damaged('a column lacks its dictionary');
  const bitWidth = bytes[0];
  if (bitWidth === undefined) throw damaged('a page ends early');
  const indexes = readHybrid(bytes.subarray(1), bitWidth, count);
  return Array.from(indexes, (index) => {
    const value = dictionary[index];
    if (value === undefined) throw damaged('a value is not in its dictionary');
    return value;
  });
}

/** Pages state the length of such a part before it. */
export function withoutLength(bytes: Buffer): Buffer {
  const length = bytes.length < 4 ? Infinity : bytes.readUInt32LE(0);
  if (length > bytes.length - 4) throw damaged('a page ends early');
  return bytes.subarray(4, 4 + length);
}

function deltaIntegers(bytes: Buffer, count: number, { type }: PhysicalType): readonly Buffer[] {
  if (type !== 'INT32' && type !== 'INT64') throw damaged('an encoding does not fit its column');
  const width = type === 'INT32' ? 4 : 8;
  const packed = Buffer.alloc(count * width);
  return readDeltas(bytes, count).values.map((value, index) => {
    const at = index * width;
    if (width === 4) packed.writeInt32LE(Number(BigInt.asIntN(32, value)), at);
    else packed.writeBigInt64LE(BigInt.asIntN(64, value), at);
    return packed.subarray(at, at + width);
  });
}

function byLengths(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  let at = 0;
  return lengths.map((length) => {
    if (length < 0 || length > bytes.length - at) throw damaged('a page ends early');
    return bytes.subarray(at, (at += length));
  });
}

/** A prefix of the value before, and a suffix. The values together may be larger than the page by this factor. */
const MAX_PREFIX_GROWTH = 64;

function deltaBytes(bytes: Buffer, count: number): readonly Buffer[] {
  const { values: prefixes, end } = readDeltas(bytes, count);
  const rest = bytes.subarray(end);
  const { values: lengths, end: start } = readDeltas(rest, count);
  const suffixes = byLengths(rest.subarray(start), lengths.map(Number));
  let left = bytes.length * MAX_PREFIX_GROWTH + 1024 * 1024;
  let before: Buffer = Buffer.alloc(0);
  return suffixes.map((suffix, index) => {
    const prefix = Number(prefixes[index]!);
    if (prefix < 0 || prefix > before.length) throw damaged('a prefix is longer than the value before it');
    left -= prefix;
    if (left < 0) throw damaged('a page expands too much');
    before = prefix === 0 ? suffix : Buffer.concat([before.subarray(0, prefix), suffix]);
    return before;
  });
}

function split(bytes: Buffer, count: number, physical: PhysicalType): readonly Buffer[] {
  const width = widthOf(physical);
  if (count * width > bytes.length) throw damaged('a page ends early');
  const joined = Buffer.alloc(count * width);
  for (let byte = 0; byte < width; byte++) {
    for (let index = 0; index < count; index++) joined[index * width + byte] = bytes[byte * count + index]!;
  }
  return plain(joined, count, physical);
}

/** `count` integers as differences (Encodings.md of Parquet, DELTA_BINARY_PACKED), and the offset after them. */
function readDeltas(
  bytes: Buffer,
  count: number,
): { readonly values: readonly bigint[]; readonly end: number } {
  const reader = new VarintReader(bytes);
  const blockSize = Number(reader.varint());
  const miniblocks = Number(reader.varint());
  const stated = Number(reader.varint());
  const perMiniblock = blockSize / miniblocks;
  if (stated !== count || !(perMiniblock >= 8 && perMiniblock % 8 === 0) || blockSize > MAX_BLOCK) {
    throw damaged('a page of differences is not valid');
  }
  let value = reader.zigzag();
  const values: bigint[] = count > 0 ? [value] : [];
  while (values.length < count) {
    const least = reader.zigzag();
    const widths = reader.take(miniblocks);
    for (const width of widths) {
      if (values.length >= count) break;
      if (width > 64) throw damaged('a bit width is not valid');
      const packed = reader.take((perMiniblock * width) / 8);
      const here = Math.min(perMiniblock, count - values.length);
      for (let index = 0; index < here; index++) {
        value = BigInt.asIntN(64, value + least + bitsAt(packed, index * width, width));
        values.push(value);
      }
    }
  }
  return { values, end: reader.offset };
}

const MAX_BLOCK = 1024 * 1024;

/** Up to 64 bits at a bit offset, least significant first. */
function bitsAt(bytes: Buffer, offset: number, width: number): bigint {
  if (width === 0) return 0n;
  let value = 0n;
  let got = 0;
  for (let at = offset >> 3, skip = offset & 7; got < width; at++, skip = 0) {
    const taken = Math.min(8 - skip, width - got);
    const part = (bytes[at]! >> skip) & ((1 << taken) - 1);
    value |= BigInt(part) << BigInt(got);
    got += taken;
  }
  return value;
}

class VarintReader {
  readonly #bytes: Buffer;
  offset = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.offset++];
      if (byte === undefined) throw damaged('a page ends early');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw damaged('a number in a page is too long');
  }

  zigzag(): bigint {
    const value = this.varint();
    return (value >> 1n) ^ -(value & 1n);
  }

  take(bytes: number): Buffer {
    if (bytes > this.#bytes.length - this.offset) throw damaged('a page ends early');
    return this.#bytes.subarray(this.offset, (this.offset += bytes));
  }
}
