import { setImmediate } from 'node:timers/promises';
import { recordsOf, type RecordBatch, type RecordReader, type SourceRecord } from '../../formats/record.ts';
import { CorruptGzip } from './file-bytes.ts';
import type { OpenSource, SourceHead } from './open-source.ts';

/** Records a sample has at least, where the file has so many: however long they are, the same ones are looked at. */
export const SAMPLE_RECORDS = 100;

/** Bytes of records beyond the head after which it has fewer. */
const SAMPLE_BYTES = 16 * 1024 * 1024;

/** Bytes parsed at once: what else this process does must not wait for a whole piece. */
const PART_BYTES = 64 * 1024;

/**
 * The first records of a file: those in its head, or more of them when these are few. Records that are too large to be
 * read are passed over: of the others it holds one at least, and at most one more than fit SAMPLE_BYTES. `reader` is one
 * to which nothing was given yet; what `file` reads is left as it was. The same file always gives the same sample. One
 * that cannot be read so far gives what could be read.
 */
export async function sampleRecords(
  file: Pick<OpenSource, 'again'>,
  head: SourceHead,
  reader: RecordReader,
): Promise<SourceRecord[]> {
  const records = recordsOf(reader, head.text, head.isComplete);
  if (head.isComplete) return records;
  const sample = new Sample(records);
  try {
    let from: number | null = head.text.length;
    while (from !== null && !sample.isEnough) {
      for await (const piece of file.again(from)) {
        for (let at = 0; at < piece.length && !sample.isEnough; at += PART_BYTES) {
          const part = piece.subarray(at, at + PART_BYTES);
          sample.add(reader.push(part));
          sample.passed(part.length);
          await setImmediate();
        }
        if (sample.isEnough) return records;
      }
      sample.add(reader.end());
      from = reader.again;
    }
  } catch (error) {
    if (!isFilesFault(error)) throw error;
  }
  return records;
}

/** Counts what is held of a sample. */
class Sample {
  readonly #records: SourceRecord[];
  #count: number;
  #bytes = 0;
  /** Bytes since the last part that ended a record, and what kind of records the current one ended. */
  #pending = 0;
  #ended: 'none' | 'some' | 'too-large' = 'none';

  constructor(records: SourceRecord[]) {
    this.#records = records;
    this.#count = records.filter((record) => !isTooLarge(record)).length;
  }

  get isEnough(): boolean {
    return this.#count >= SAMPLE_RECORDS || (this.#count > 0 && this.#bytes >= SAMPLE_BYTES);
  }

  /** Takes as many batches as it needs: a record that is given up may be followed by all that it had swallowed. */
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

  /** The records of a part of so many bytes were added. Bytes of a record that is too large are not held. */
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

/** Whether an error is about the file, which reading it will say: not an abort, nor our own mistake. */
function isFilesFault(error: unknown): boolean {
  return error instanceof CorruptGzip || (error instanceof Error && 'syscall' in error);
}
