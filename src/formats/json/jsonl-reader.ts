import { itemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import { parseJsonRecord } from './json-record.ts';

const NEWLINE = 0x0a;

/** Reads JSON Lines: one JSON value per line, ignoring blank lines. Buffers one line of up to `limit` bytes. */
export class JsonlReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #limit: number;
  readonly #window = new ByteWindow();
  #lineStart = 0;
  #line = 1;
  #row = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    let records: SourceRecord[] = [];
    let searchFrom = this.#window.end;
    let batchStart = searchFrom;
    this.#window.append(chunk);
    for (;;) {
      const newline = this.#window.indexOf(NEWLINE, searchFrom);
      if (newline < 0) break;
      this.#takeLine(newline, records);
      this.#lineStart = searchFrom = newline + 1;
      this.#line++;
      if (searchFrom - batchStart < BATCH_BYTES) continue;
      yield records;
      records = [];
      batchStart = searchFrom;
    }
    const isLong = this.#window.end - this.#lineStart > this.#limit;
    this.#window.dropBefore(isLong ? this.#window.end : this.#lineStart);
    if (records.length > 0) yield records;
  }

  *end(): Generator<RecordBatch, void> {
    const records: SourceRecord[] = [];
    this.#takeLine(this.#window.end, records);
    yield records;
  }

  #takeLine(end: number, records: SourceRecord[]): void {
    const bytes = end - this.#lineStart;
    if (bytes > this.#limit) {
      const error = itemError('ITEM_TOO_LARGE', `the record has ${bytes} bytes of at most ${this.#limit}`);
      records.push(badRecord(++this.#row, this.#line, error));
      return;
    }
    const line = this.#window.slice(this.#lineStart, end);
    if (isBlank(line)) return;
    const span = { start: this.#lineStart, end: Math.min(end + 1, this.#window.end) };
    records.push(parseJsonRecord(line, ++this.#row, this.#line, span));
  }
}

/** Whether a line is only white space or the DOS end-of-file character (Ctrl-Z). */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0x1a);
}
