import type { ColumnChunk, SchemaElement } from 'hyparquet';
import { ByteWriter } from 'hyparquet-writer';
import { writePageHeader } from 'hyparquet-writer/src/datapage.js';
import { snappyCompress } from 'hyparquet-writer/src/snappy.js';
import { bitsFor } from './levels.ts';

/** Appends bytes to the file that is written. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/** Bytes of values, and levels, after which a page is written. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_LEVELS = 64 * 1024;

/** What a column chunk needs to know of its column. */
export interface ChunkColumn {
  readonly element: SchemaElement;
  /** Names from the column to the leaf. */
  readonly path: readonly string[];
  /** Highest levels. */
  readonly repetition: number;
  readonly definition: number;
}

/**
 * Writes one column of a row group: data pages with plain values, compressed with Snappy. Values are the bytes they have
 * in the encoding PLAIN, without a length. Holds one page.
 */
export class ChunkWriter {
  readonly #column: ChunkColumn;
  readonly #write: WriteBytes;
  readonly #start: number;
  #repetition: number[] = [];
  #definition: number[] = [];
  #values: Buffer[] = [];
  #valueBytes = 0;
  #levels = 0;
  #stored = 0;
  #uncompressed = 0;

  /** `start`: offset in the file at which the chunk begins. */
  constructor(column: ChunkColumn, start: number, write: WriteBytes) {
    this.#column = column;
    this.#start = start;
    this.#write = write;
  }

  add(repetition: number, definition: number, value: Buffer | null): void {
    this.#repetition.push(repetition);
    this.#definition.push(definition);
    if (value === null) return;
    this.#values.push(value);
    this.#valueBytes += value.length + 4;
  }

  /** To be called after each row. */
  async endRow(): Promise<void> {
    if (this.#valueBytes >= PAGE_BYTES || this.#definition.length >= PAGE_LEVELS) await this.#flush();
  }

  /** Writes the last page; returns the metadata of the chunk. */
  async end(): Promise<ColumnChunk> {
    if (this.#definition.length > 0) await this.#flush();
    const { element, path } = this.#column;
    return {
      file_offset: 0n,
      meta_data: {
        type: element.type!,
        encodings: ['PLAIN', 'RLE'],
        path_in_schema: [...path],
        codec: 'SNAPPY',
        num_values: BigInt(this.#levels),
        total_uncompressed_size: BigInt(this.#uncompressed),
        total_compressed_size: BigInt(this.#stored),
        data_page_offset: BigInt(this.#start),
      },
    };
  }

  async #flush(): Promise<void> {
    const { element, repetition, definition } = this.#column;
    const count = this.#definition.length;
    const body = Buffer.concat([
      ...levelRuns(this.#repetition, repetition),
      ...levelRuns(this.#definition, definition),
      ...plainValues(this.#values, element.type!),
    ]);
    const compressed = snappyCompress(body);
    const header = new ByteWriter();
    writePageHeader(header, {
      type: 'DATA_PAGE',
      uncompressed_page_size: body.length,
      compressed_page_size: compressed.length,
      data_page_header: {
        num_values: count,
        encoding: 'PLAIN',
        definition_level_encoding: 'RLE',
        repetition_level_encoding: 'RLE',
      },
    });
    const head = header.getBytes();
    await this.#write(head);
    await this.#write(compressed);
    this.#levels += count;
    this.#stored += head.length + compressed.length;
    this.#uncompressed += head.length + body.length;
    this.#repetition = [];
    this.#definition = [];
    this.#values = [];
    this.#valueBytes = 0;
  }
}

/** Levels as runs, after their length; nothing if all are 0 by the schema. */
function levelRuns(levels: readonly number[], max: number): Buffer[] {
  if (max === 0) return [];
  const bytes = Math.ceil(bitsFor(max) / 8);
  const runs = new ByteWriter();
  for (let from = 0; from < levels.length;) {
    let to = from + 1;
    while (to < levels.length && levels[to] === levels[from]) to++;
    runs.appendVarInt((to - from) * 2);
    for (let byte = 0; byte < bytes; byte++) runs.appendUint8((levels[from]! >> (8 * byte)) & 0xff);
    from = to;
  }
  const written = Buffer.from(runs.getBytes());
  return [lengthOf(written), written];
}

function plainValues(values: readonly Buffer[], type: string): Buffer[] {
  if (type === 'BYTE_ARRAY') return values.flatMap((value) => [lengthOf(value), value]);
  if (type !== 'BOOLEAN') return [...values];
  const bits = Buffer.alloc(Math.ceil(values.length / 8));
  values.forEach((value, index) => {
    if (value[0] === 1) bits[index >> 3]! |= 1 << (index & 7);
  });
  return [bits];
}

function lengthOf(bytes: Buffer): Buffer {
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32LE(bytes.length);
  return length;
}
