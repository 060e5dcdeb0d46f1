import { setImmediate } from 'node:timers/promises';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import type { RecordBatch, RecordReader } from '../../formats/record.ts';
import type { SourceContent, SourceHead } from './open-source.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Bytes parsed before yielding to the event loop. */
const PART_BYTES = 64 * 1024;

/**
 * The records of an open file whose head was read, in batches. A read error, CorruptGzip or the system's error, is thrown
 * after the records that could be read.
 */
export async function* readRecords(
  file: SourceContent,
  head: SourceHead,
  reader: RecordReader,
): AsyncGenerator<RecordBatch, void> {
  let failure = yield* readPieces(reader, file.text(head));
  while (reader.rereadFrom !== null) failure = yield* readPieces(reader, file.again(reader.rereadFrom));
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
