import { itemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { badRecord, type RecordReader, type SourceRecord } from '../record.ts';
import { jsonRecord } from './json-record.ts';

const NEWLINE = 0x0a;

/** Reads JSON Lines: one JSON value a line. Blank lines are no records. Holds one line of up to `limit` bytes. */
export class JsonlReader implements RecordReader {
  readonly #limit: number;
  readonly #window = new ByteWindow();
  #lineStart = 0;
  #line = 1;
  #row = 0;
  /** The rest of the current line belongs to a record that is already settled. */
  #skippingLine = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Buffer): SourceRecord[] {
    const records: SourceRecord[] = [];
    let searchFrom = this.#window.end;
    this.#window.append(chunk);
    for (;;) {
      const newline = this.#window.indexOf(NEWLINE, searchFrom);
      if (newline < 0) break;
      this.#takeLine(newline, records);
      this.#lineStart = searchFrom = newline + 1;
      this.#line++;
    }
    if (this.#skippingLine) {
      this.#lineStart = this.#window.end;
    } else if (this.#window.end - this.#lineStart > this.#limit) {
      const error = itemError('ITEM_TOO_LARGE', `the record is larger than ${this.#limit} bytes`);
      records.push(badRecord(++this.#row, this.#line, error));
      this.#skippingLine = true;
      this.#lineStart = this.#window.end;
    }
    this.#window.dropBefore(this.#lineStart);
    return records;
  }

  end(): SourceRecord[] {
    const records: SourceRecord[] = [];
    this.#takeLine(this.#window.end, records);
    return records;
  }

  #takeLine(end: number, records: SourceRecord[]): void {
    if (this.#skippingLine) {
      this.#skippingLine = false;
      return;
    }
    if (end - this.#lineStart > this.#limit) {
      const error = itemError('ITEM_TOO_LARGE', `the record is larger than ${this.#limit} bytes`);
      records.push(badRecord(++this.#row, this.#line, error));
      return;
    }
    const bytes = this.#window.slice(this.#lineStart, end);
    if (!isBlank(bytes)) records.push(jsonRecord(bytes, ++this.#row, this.#line));
  }
}

/** Nothing but white space, and perhaps the end-of-file mark of DOS. */
function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x0d || byte === 0x09 || byte === 0x1a);
}
