import { damaged } from './parquet-problem.ts';

/** Types of the compact protocol (Apache Thrift, thrift-compact-protocol.md). */
const STOP = 0;
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I16 = 4;
const I32 = 5;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
const LIST = 9;
const SET = 10;
const STRUCT = 12;

/** A 64-bit integer takes at most 10 bytes. */
const MAX_VARINT_BYTES = 10;

/** The structures of Parquet are nested less than 10 levels deep. */
const MAX_LEVELS = 24;

/** A struct: integers, booleans (1 or 0) and structs by field id. Other values are checked and left out. */
export type ThriftStruct = ReadonlyMap<number, number | ThriftStruct>;

export interface ReadStruct {
  readonly fields: ThriftStruct;
  /** Offset of the first byte after the struct. */
  readonly end: number;
}

/**
 * Reads the struct at an offset of `bytes`. Takes time linear in the bytes, and checks all lengths, so that a parser
 * without such checks can safely read the same bytes after it. Throws ParquetProblem for anything else.
 */
export function readStruct(bytes: Buffer, offset: number): ReadStruct {
  const reader = new StructReader(bytes, offset);
  const fields = reader.struct(0);
  return { fields, end: reader.offset };
}

class StructReader {
  readonly #bytes: Buffer;
  offset: number;

  constructor(bytes: Buffer, offset: number) {
    this.#bytes = bytes;
    this.offset = offset;
  }

  struct(level: number): ThriftStruct {
    if (level > MAX_LEVELS) throw damaged('its metadata are nested too deeply');
    const fields = new Map<number, number | ThriftStruct>();
    let id = 0;
    for (;;) {
      const head = this.#byte();
      const type = head & 0x0f;
      if (type === STOP) return fields;
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      const value = type === TRUE ? 1 : type === FALSE ? 0 : this.#value(type, level);
      if (value !== null) fields.set(id, value);
    }
  }

  /** The value of a field or a list; null for one that is only checked. */
  #value(type: number, level: number): number | ThriftStruct | null {
    switch (type) {
      case TRUE:
      case FALSE:
      case BYTE:
        return this.#byte();
      case I16:
      case I32:
      case I64:
        return this.#zigzag();
      case DOUBLE:
        this.#skip(8);
        return null;
      case BINARY:
        this.#skip(this.#varint());
        return null;
      case LIST:
      case SET:
        this.#list(level);
        return null;
      case STRUCT:
        return this.struct(level + 1);
      default:
        throw damaged('its metadata hold an unknown type');
    }
  }

  #list(level: number): void {
    const head = this.#byte();
    const type = head & 0x0f;
    const size = head >> 4 === 15 ? this.#varint() : head >> 4;
    // Each element takes at least one byte.
    if (size > this.#bytes.length - this.offset)
      throw damaged('a list in its metadata is longer than the file');
    if (type === LIST && level >= MAX_LEVELS) throw damaged('its metadata are nested too deeply');
    for (let index = 0; index < size; index++) this.#value(type, level + 1);
  }

  #byte(): number {
    const byte = this.#bytes[this.offset++];
    if (byte === undefined) throw damaged('its metadata end early');
    return byte;
  }

  /** An unsigned integer. One above 2^53 is inexact, and no length is that large. */
  #varint(): number {
    let value = 0;
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) return value;
    }
    throw damaged('its metadata hold a number that is too long');
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  #skip(bytes: number): void {
    if (bytes > this.#bytes.length - this.offset) throw damaged('its metadata end early');
    this.offset += bytes;
  }
}
