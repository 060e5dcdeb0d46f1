import { setImmediate } from 'node:timers/promises';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { type RecordBatch, type RecordReader, recordsOf, type SourceRecord } from '../../formats/record.ts';
import { CorruptGzip } from './file-bytes.ts';
import type { OpenSource, SourceHead } from './open-source.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Bytes parsed before yielding to the event loop. */
const PART_BYTES = 64 * 1024;

/**
 * The records of an open file whose head was read, in batches. A read error, CorruptGzip or the system's error, is
 * thrown after the records that could be read.
 */
export async function* readRecords(
  file: Pick<OpenSource, 'text' | 'reread'>,
  head: SourceHead,
  reader: RecordReader,
): AsyncGenerator<RecordBatch, void> {
  let failure = yield* readPieces(reader, file.text(head));
  while (reader.rereadFrom !== null) failure = yield* readPieces(reader, file.reread(reader.rereadFrom));
  if (failure !== null) throw failure;
}

/** Returns the error that stopped reading, if it can be thrown later; null if there was none. */
async function* readPieces(
  reader: RecordReader,
  pieces: AsyncIterable<Buffer>,
): AsyncGenerator<RecordBatch, Error | null> {
  let failure: Error | null = null;
  let lastByte: number | undefined;
  try {
    for await (const piece of pieces) {
      lastByte = piece.at(-1) ?? lastByte;
      for (let at = 0; at < piece.length; at += PART_BYTES) {
        yield* batches(reader.push(piece.subarray(at, at + PART_BYTES)));
        await setImmediate();
      }
    }
  } catch (error) {
    // A CSV reader may still hold a complete row. A truncated row must not be read as complete.
    const endsLine = lastByte === LF || lastByte === CR;
    if (!(error instanceof Error) || !(reader instanceof CsvReader) || !endsLine) throw error;
    failure = error;
  }
  yield* batches(reader.end());
  return failure;
}

async function* batches(found: Iterable<RecordBatch>): AsyncGenerator<RecordBatch, void> {
  for (const batch of found) {
    if (batch.length === 0) continue;
    yield batch;
    await setImmediate();
  }
}

/** Min records in a sample, if the file has as many and they fit SAMPLE_BYTES. */
export const SAMPLE_RECORDS = 100;

/** Bytes of records beyond the head after which a sample ends with fewer than SAMPLE_RECORDS. */
export const SAMPLE_BYTES = 16 * 1024 * 1024;

/**
 * The first records of a file: those in its head, and further ones if these are few. Oversized records are skipped. The
 * sample has at least one other record, if there is any, and exceeds SAMPLE_BYTES by at most one record. `reader` must
 * be unused; the read position of `file` does not change. The same file always yields the same sample. After a read
 * error, the sample contains what could be read before it.
 */
export async function sampleRecords(
  file: Pick<OpenSource, 'reread'>,
  head: SourceHead,
  reader: RecordReader,
): Promise<SourceRecord[]> {
  const records = recordsOf(reader, head.text, head.isComplete);
  if (head.isComplete) return records;
  const sample = new Sample(records);
  try {
    let from: number | null = head.text.length;
    while (from !== null && !sample.isEnough) {
      for await (const piece of file.reread(from)) {
        for (let at = 0; at < piece.length && !sample.isEnough; at += PART_BYTES) {
          const part = piece.subarray(at, at + PART_BYTES);
          sample.add(reader.push(part));
          sample.passed(part.length);
          await setImmediate();
        }
        if (sample.isEnough) return records;
      }
      sample.add(reader.end());
      from = reader.rereadFrom;
    }
  } catch (error) {
    if (!isReadError(error)) throw error;
  }
  return records;
}

/** Collects a sample and counts its records and bytes. */
class Sample {
  readonly #records: SourceRecord[];
  #count: number;
  #bytes = 0;
  /** Bytes since the last part that completed a record, and the kind of records that the current part completed. */
  #pending = 0;
  #ended: 'none' | 'some' | 'too-large' = 'none';

  constructor(records: SourceRecord[]) {
    this.#records = records;
    this.#count = records.filter((record) => !isTooLarge(record)).length;
  }

  get isEnough(): boolean {
    return this.#count >= SAMPLE_RECORDS || (this.#count > 0 && this.#bytes >= SAMPLE_BYTES);
  }

  /**
   * Adds records until the sample is full: when a reader gives up on an oversized record, one call may return very many
   * that were inside it.
   */
  add(batches: Iterable<RecordBatch>): void {
    for (const batch of batches) {
      for (const record of batch) this.#add(record);
      if (this.isEnough) return;
    }
  }

  #add(record: SourceRecord): void {
    if (isTooLarge(record)) {
      this.#ended = 'too-large';
      return;
    }
    this.#records.push(record);
    this.#count++;
    if (this.#ended === 'none') this.#ended = 'some';
  }

  /** Must be called after the records of a part were added. Bytes of oversized records do not count. */
  passed(partBytes: number): void {
    this.#pending += partBytes;
    if (this.#ended === 'none') return;
    this.#bytes += this.#ended === 'too-large' ? partBytes : this.#pending;
    this.#pending = 0;
    this.#ended = 'none';
  }
}

function isTooLarge({ error }: SourceRecord): boolean {
  return error?.code === 'ITEM_TOO_LARGE';
}

/** Whether an error comes from the file, rather than from an abort or a bug. The reader of its items reports it. */
function isReadError(error: unknown): boolean {
  return error instanceof CorruptGzip || (error instanceof Error && 'syscall' in error);
}
