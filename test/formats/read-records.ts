import fc from 'fast-check';
import type { CsvDialect } from '../../src/formats/csv/csv-dialect.ts';
import { isFields, type RecordReader, type SourceRecord } from '../../src/formats/record.ts';

/** A table of cells between commas, below a header. */
export const COMMA: CsvDialect = {
  delimiter: ',',
  lineBreak: '\n',
  namesDelimiter: false,
  header: true,
  width: null,
};

/** What a reader gives for bytes that come in pieces of the given sizes, over and over. */
export function readAll(reader: RecordReader, bytes: Buffer, sizes: readonly number[]): SourceRecord[] {
  const records: SourceRecord[] = [];
  for (let from: number | null = 0; from !== null; from = reader.rereadFrom) {
    for (let at = from, index = 0; at < bytes.length; index++) {
      const size = sizes[index % sizes.length]!;
      for (const batch of reader.push(bytes.subarray(at, at + size))) records.push(...batch);
      at += size;
    }
    for (const batch of reader.end()) records.push(...batch);
  }
  return records;
}

/** A record as plain data: its position, and its values or the code of its error. */
export function plain(record: SourceRecord): unknown {
  const { row, line, content, error } = record;
  if (error !== null) return { row, line, error: error.code };
  if (!isFields(content)) return { row, line, content };
  return { row, line, content: content.names().map((name) => [name, content.get(name)]) };
}

/** Sizes of the pieces a file comes in. */
export const pieceSizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 });

/** The whole file in one piece. */
export const WHOLE: readonly number[] = [Number.MAX_SAFE_INTEGER];
