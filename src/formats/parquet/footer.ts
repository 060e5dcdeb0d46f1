import type { FileHandle } from 'node:fs/promises';
import { parquetMetadata, type FileMetaData } from 'hyparquet';
import { readFully } from '../../files/read-fully.ts';
import { damaged, ParquetProblem, tooLarge, unsupported } from './parquet-problem.ts';
import { readSchema, type Schema } from './schema.ts';
import { readStruct } from './thrift.ts';

const MAGIC = 'PAR1';
const ENCRYPTED_MAGIC = 'PARE';
/** Length of the metadata and magic bytes, at the end of the file. */
const END_BYTES = 8;
/** Parsing takes about 20 times as much memory. */
const MAX_FOOTER_BYTES = 16 * 1024 * 1024;

/** Where the values of one column of a row group are. */
export interface Chunk {
  /** Offset of its first page, the dictionary if it has one. */
  readonly start: number;
  readonly end: number;
  readonly codec: string;
}

export interface RowGroup {
  readonly rows: number;
  /** By index of the leaf. */
  readonly chunks: readonly Chunk[];
}

/** What the end of a Parquet file says of it. */
export interface Footer {
  readonly metadata: FileMetaData;
  readonly schema: Schema;
  readonly rowGroups: readonly RowGroup[];
}

/**
 * Reads and checks the metadata at the end of a file of `bytes` bytes. Throws ParquetProblem for metadata that are
 * damaged, too large or of an encrypted file, and the system's error.
 */
export async function readFooter(handle: FileHandle, bytes: number): Promise<Footer> {
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
  const footer = Buffer.allocUnsafeSlow(length + END_BYTES);
  const read = await readFully(handle, footer, bytes - footer.length);
  if (read.length < footer.length) throw damaged('it ends early');
  return parsedFooter(footer, bytes);
}

function parsedFooter(footer: Buffer, bytes: number): Footer {
  readStruct(footer.subarray(0, footer.length - END_BYTES), 0);
  try {
    const metadata = parquetMetadata(footer, { geoparquet: false, parsers: STATISTICS_AS_BYTES });
    const schema = readSchema(metadata.schema);
    const rowGroups = metadata.row_groups.map((group) => rowGroupOf(group, schema, bytes));
    return { metadata, schema, rowGroups };
  } catch (error) {
    // The library trusts the types of fields; whatever it throws on others says nothing more than this.
    throw error instanceof ParquetProblem ? error : damaged('its metadata are not valid', error);
  }
}

/** Keeps the library from decoding texts that nobody reads. */
const STATISTICS_AS_BYTES = { stringFromBytes: (bytes: Uint8Array) => bytes };

function rowGroupOf(group: FileMetaData['row_groups'][number], schema: Schema, bytes: number): RowGroup {
  const rows = Number(group.num_rows);
  if (!Number.isSafeInteger(rows) || rows < 0) throw damaged('its number of rows is not valid');
  if (group.columns.length !== schema.leaves.length) throw damaged('a row group lacks columns');
  const chunks = group.columns.map(({ meta_data: meta, file_path: path }): Chunk => {
    if (path !== undefined) throw unsupported('keeps columns in other files');
    if (meta === undefined) throw unsupported('is encrypted');
    const data = Number(meta.data_page_offset);
    const dictionary = Number(meta.dictionary_page_offset ?? 0);
    // Some writers state 0 for a column without a dictionary.
    const start = dictionary > 0 && dictionary < data ? dictionary : data;
    const end = start + Number(meta.total_compressed_size);
    const isInside = start >= MAGIC.length && end >= start && end <= bytes - END_BYTES;
    if (!isInside) throw damaged('a column is outside the file');
    return { start, end, codec: meta.codec };
  });
  return { rows, chunks };
}
