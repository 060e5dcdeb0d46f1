import type { FileHandle } from 'node:fs/promises';
import { Encodings } from 'hyparquet/src/constants.js';
import { readFully } from '../../files/read-fully.ts';
import { decompress } from './codecs/decompress.ts';
import type { Expansion } from './expansion.ts';
import type { Chunk } from './footer.ts';
import { bitsFor, readHybrid } from './levels.ts';
import { damaged, ParquetProblem, tooLarge, unsupported } from './parquet-problem.ts';
import type { SchemaNode } from './schema.ts';
import { readStruct, type ThriftStruct } from './thrift.ts';
import { readValues, withoutLength } from './values.ts';

/** An open file, and how its pages may be read. */
export interface PageSource {
  readonly handle: FileHandle;
  readonly expansion: Expansion;
  readonly signal: AbortSignal;
  /** Called with the number of bytes of each page. */
  readonly onBytes?: ((bytes: number) => void) | undefined;
}

/** One data page, decoded. */
export interface Page {
  /** A level per value, null included; null if all are 0, or the highest, by the schema. */
  readonly repetition: Uint32Array | null;
  readonly definition: Uint32Array | null;
  /** Number of levels. */
  readonly count: number;
  /** Only the values that are not null. */
  readonly values: readonly Buffer[];
}

/** Bytes of one page, compressed or not. Writers aim at 1 MB, DuckDB at no more than 100 MB. */
const MAX_PAGE_BYTES = 256 * 1024 * 1024;
const MAX_PAGE_VALUES = 32 * 1024 * 1024;

/** Bytes read for a page header, which may hold statistics. */
const HEADER_BYTES = 4 * 1024;
const MAX_HEADER_BYTES = 4 * 1024 * 1024;

const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;
const DATA_PAGE_V2 = 3;
/** Of the encodings. */
const RLE = 3;

/** The data pages of a column of a row group. Throws ParquetProblem, the system's error, or the reason of an abort. */
export async function* readPages(
  chunk: Chunk,
  column: SchemaNode,
  source: PageSource,
): AsyncGenerator<Page, void> {
  let dictionary: readonly Buffer[] | null = null;
  for (let at = chunk.start; at < chunk.end;) {
    source.signal.throwIfAborted();
    const { fields, end } = await readHeader(source.handle, at, chunk.end);
    const size = lengthAt(fields, 2, MAX_PAGE_BYTES);
    const stored = lengthAt(fields, 3, MAX_PAGE_BYTES);
    if (end + stored > chunk.end) throw damaged('a page is outside its column');
    source.expansion.spend(size + stored);
    const bytes = await readFully(source.handle, Buffer.allocUnsafeSlow(stored), end);
    if (bytes.length < stored) throw damaged('it ends early');
    source.onBytes?.(end + stored - at);
    at = end + stored;
    const body = { bytes, size, codec: chunk.codec };
    const type = fields.get(1);
    if (type === DICTIONARY_PAGE) {
      if (dictionary !== null) throw damaged('a column has two dictionaries');
      dictionary = readDictionary(body, structAt(fields, 7), column);
    } else if (type === DATA_PAGE) yield readDataPage(body, structAt(fields, 5), column, dictionary);
    else if (type === DATA_PAGE_V2) yield readDataPageV2(body, structAt(fields, 8), column, dictionary);
  }
}

async function readHeader(
  handle: FileHandle,
  at: number,
  end: number,
): Promise<ReturnType<typeof readStruct>> {
  for (let bytes = HEADER_BYTES; ; bytes = MAX_HEADER_BYTES) {
    const most = Math.min(bytes, end - at);
    const head = await readFully(handle, Buffer.allocUnsafe(most), at);
    try {
      const read = readStruct(head, 0);
      return { fields: read.fields, end: at + read.end };
    } catch (error) {
      // It may go on behind what was read.
      if (!(error instanceof ParquetProblem) || most < bytes || bytes === MAX_HEADER_BYTES) throw error;
    }
  }
}

interface Body {
  readonly bytes: Buffer;
  /** After decompression. */
  readonly size: number;
  readonly codec: string;
}

function readDictionary(body: Body, header: ThriftStruct, column: SchemaNode): readonly Buffer[] {
  const count = lengthAt(header, 1, MAX_PAGE_VALUES);
  return readValues(decompress(body.bytes, body.codec, body.size), 'PLAIN', count, physicalOf(column), null);
}

function readDataPage(
  body: Body,
  header: ThriftStruct,
  column: SchemaNode,
  dictionary: readonly Buffer[] | null,
): Page {
  const count = lengthAt(header, 1, MAX_PAGE_VALUES);
  let rest = decompress(body.bytes, body.codec, body.size);
  const levels = (max: number, encoding: number): Uint32Array | null => {
    if (max === 0) return null;
    if (header.get(encoding) !== RLE) throw unsupported('uses an encoding of old writers');
    const bytes = withoutLength(rest);
    rest = rest.subarray(4 + bytes.length);
    return levelsOf(bytes, max, count);
  };
  const repetition = levels(column.repetition, 4);
  const definition = levels(column.definition, 3);
  return {
    count,
    repetition,
    definition,
    values: valuesOf(rest, header.get(2), { column, count, definition, dictionary }),
  };
}

function readDataPageV2(
  { bytes, size, codec }: Body,
  header: ThriftStruct,
  column: SchemaNode,
  dictionary: readonly Buffer[] | null,
): Page {
  const count = lengthAt(header, 1, MAX_PAGE_VALUES);
  const definitionBytes = lengthAt(header, 5, size);
  const levelBytes = lengthAt(header, 6, size) + definitionBytes;
  if (levelBytes > bytes.length || levelBytes > size) throw damaged('a page ends early');
  const levels = (from: number, to: number, max: number): Uint32Array | null =>
    max === 0 ? null : levelsOf(bytes.subarray(from, to), max, count);
  const repetition = levels(0, levelBytes - definitionBytes, column.repetition);
  const definition = levels(levelBytes - definitionBytes, levelBytes, column.definition);
  const isCompressed = header.get(7) !== 0;
  const rest = decompress(
    bytes.subarray(levelBytes),
    isCompressed ? codec : 'UNCOMPRESSED',
    size - levelBytes,
  );
  return {
    count,
    repetition,
    definition,
    values: valuesOf(rest, header.get(4), { column, count, definition, dictionary }),
  };
}

function levelsOf(bytes: Buffer, max: number, count: number): Uint32Array {
  const levels = readHybrid(bytes, bitsFor(max), count);
  if (levels.some((level) => level > max)) throw damaged('a level of nesting does not exist');
  return levels;
}

function valuesOf(
  bytes: Buffer,
  encoding: number | ThriftStruct | undefined,
  page: {
    readonly column: SchemaNode;
    readonly count: number;
    readonly definition: Uint32Array | null;
    readonly dictionary: readonly Buffer[] | null;
  },
): readonly Buffer[] {
  let present = page.count;
  for (const level of page.definition ?? []) if (level !== page.column.definition) present--;
  if (present === 0) return [];
  const name = typeof encoding === 'number' ? Encodings[encoding] : undefined;
  return readValues(bytes, name, present, physicalOf(page.column), page.dictionary);
}

export function physicalOf({ element }: SchemaNode): {
  readonly type: string;
  readonly length: number | undefined;
} {
  return { type: element.type!, length: element.type_length };
}

function structAt(fields: ThriftStruct, id: number): ThriftStruct {
  const value = fields.get(id);
  if (typeof value !== 'object') throw damaged('a page lacks its header');
  return value;
}

/** A number of bytes or values. */
function lengthAt(fields: ThriftStruct, id: number, most: number): number {
  const value = fields.get(id);
  if (typeof value !== 'number' || value < 0) throw damaged('a page has no valid length');
  if (value > most) throw tooLarge(`a page of the Parquet file is larger than ${most} bytes or values`);
  return value;
}
