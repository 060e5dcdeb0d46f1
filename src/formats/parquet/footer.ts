import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../../files/read-fully.ts';
import { damaged, tooLarge, unsupported } from './parquet-problem.ts';

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';
/** Length of the metadata and magic bytes, at the end of the file. */
const END_BYTES = 8;
const MAX_FOOTER_BYTES = 16 * 1024 * 1024;

/** Bytes of a file, from an offset on, that are to be others. */
export interface Change {
  readonly offset: number;
  readonly byte: number;
}

/**
 * Checks the end of a file of `bytes` bytes; returns the length of its metadata. Throws ParquetProblem for a file that is
 * cut or encrypted, or whose metadata are too large, and the system's error.
 */
export async function checkEnd(handle: FileHandle, bytes: number): Promise<number> {
  if (bytes < MAGIC.length + END_BYTES) throw damaged('it ends early');
  const end = await readFully(handle, Buffer.alloc(END_BYTES), bytes - END_BYTES);
  const magic = end.toString('latin1', 4);
  if (magic === ENCRYPTED_MAGIC) throw unsupported('is encrypted');
  if (end.length < END_BYTES || magic !== MAGIC) throw damaged('it ends early');
  const length = end.readUInt32LE(0);
  if (length > bytes - MAGIC.length - END_BYTES) throw damaged('its metadata are longer than the file');
  if (length > MAX_FOOTER_BYTES) {
    throw tooLarge(`the metadata of the Parquet file have ${length} bytes of at most ${MAX_FOOTER_BYTES}`);
  }
  return length;
}

/**
 * The changes to a file that make columns of text columns of bytes, to be read although some are not UTF-8: DuckDB gives up
 * a whole row group for one such value in a dictionary. Throws ParquetProblem for metadata that are damaged.
 */
export async function textsAsBytes(handle: FileHandle, bytes: number): Promise<readonly Change[]> {
  const length = await checkEnd(handle, bytes);
  const start = bytes - END_BYTES - length;
  const footer = await readFully(handle, Buffer.allocUnsafeSlow(length), start);
  return textChanges(footer).map(({ offset, byte }) => ({ offset: start + offset, byte }));
}

/**
 * The same for metadata, which it changes. The annotation of a column as text becomes a field that has no effect on bytes,
 * so that no length changes.
 */
export function textChanges(footer: Buffer): readonly Change[] {
  const walk = new SchemaWalk(footer);
  walk.struct(0, false);
  return walk.changes;
}

/** Types of Apache Thrift's compact protocol. */
const [STOP, TRUE, FALSE, BYTE, I64, DOUBLE, BINARY, LIST, SET, STRUCT] = [
  0, 1, 2, 3, 6, 7, 8, 9, 10, 12,
] as const;

/** Fields of the metadata (parquet.thrift): the list of columns; of a column, its type and what it is annotated as. */
const SCHEMA = 2;
const [TYPE, CONVERTED, LOGICAL] = [1, 6, 10] as const;
/** Values of these fields: bytes; texts, enumerations and JSON in either annotation. */
const BYTE_ARRAY = 6;
const CONVERTED_TEXTS: readonly number[] = [0, 4, 19];
const LOGICAL_TEXTS: readonly number[] = [1, 4, 12];

/** The id of a field is stored as the distance from the one before, in the upper half of a byte. */
const ONE_ID = 0x10;
/** The structures of Parquet are nested less than 10 levels deep. */
const MAX_LEVELS = 24;

/** A field as it is stored. */
interface Field {
  readonly id: number;
  readonly head: number;
  readonly value: number;
}

/** Walks over metadata in time linear in their bytes; all lengths are checked. */
class SchemaWalk {
  readonly changes: Change[] = [];
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** Passes over a struct. Returns the id of its first field, which is what a union holds; 0 for none. */
  struct(level: number, isColumn: boolean): number {
    if (level > MAX_LEVELS) throw damaged('its metadata are nested too deeply');
    const fields: Field[] = [];
    let id = 0;
    let first = 0;
    for (;;) {
      const at = this.#at;
      const head = this.#byte();
      const type = head & 0x0f;
      if (type === STOP) break;
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      first ||= id;
      const value =
        type === TRUE || type === FALSE ? 0 : this.#value(type, level, level === 0 && id === SCHEMA);
      if (isColumn) fields.push({ id, head: at, value });
    }
    if (isColumn) this.#change(fields);
    return first;
  }

  #change(fields: readonly Field[]): void {
    if (fields.find(({ id }) => id === TYPE)?.value !== BYTE_ARRAY) return;
    fields.forEach(({ id, head, value }, index) => {
      const isText =
        (id === CONVERTED && CONVERTED_TEXTS.includes(value)) ||
        (id === LOGICAL && LOGICAL_TEXTS.includes(value));
      const next = fields[index + 1];
      // No known writer stores the distances here in another form.
      if (!isText || this.#distance(head) === 0 || (next !== undefined && this.#distance(next.head) < 2))
        return;
      this.#shift(head, ONE_ID);
      if (next !== undefined) this.#shift(next.head, -ONE_ID);
    });
  }

  #distance(offset: number): number {
    return this.#bytes[offset]! >> 4;
  }

  #shift(offset: number, by: number): void {
    this.#bytes[offset]! += by;
    this.changes.push({ offset, byte: this.#bytes[offset]! });
  }

  /** Passes over a value; returns an integer, or the first field of a struct. */
  #value(type: number, level: number, isSchema = false): number {
    if (type <= BYTE) return this.#byte();
    if (type <= I64) return this.#zigzag();
    switch (type) {
      case DOUBLE:
        return this.#skip(8);
      case BINARY:
        return this.#skip(this.#varint());
      case LIST:
      case SET:
        return this.#list(level, isSchema);
      case STRUCT:
        return this.struct(level + 1, false);
      default:
        throw damaged('its metadata hold an unknown type');
    }
  }

  #list(level: number, isSchema: boolean): number {
    if (level >= MAX_LEVELS) throw damaged('its metadata are nested too deeply');
    const head = this.#byte();
    const type = head & 0x0f;
    const size = head >> 4 === 15 ? this.#varint() : head >> 4;
    // Each element takes at least one byte.
    if (size > this.#bytes.length - this.#at) throw damaged('a list in its metadata is longer than the file');
    for (let index = 0; index < size; index++) {
      if (isSchema && type === STRUCT) this.struct(level + 1, true);
      else this.#value(type, level + 1);
    }
    return 0;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++];
    if (byte === undefined) throw damaged('its metadata end early');
    return byte;
  }

  /** An unsigned integer. One above 2^53 is inexact, and no length is that large. */
  #varint(): number {
    let value = 0;
    for (let index = 0; index < 10; index++) {
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

  #skip(bytes: number): number {
    if (bytes > this.#bytes.length - this.#at) throw damaged('its metadata end early');
    this.#at += bytes;
    return 0;
  }
}
