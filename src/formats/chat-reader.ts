import { isUtf8 } from 'node:buffer';
import { itemError } from '../domain/item-error.ts';
import { ByteWindow } from './byte-window.ts';
import { TableHeader, TableRow } from './csv/table-row.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from './record.ts';

const LF = 0x0a;

/** Bytes of a line that are searched for the start of a message; more than any start takes. */
const HEAD_BYTES = 640;

const HEADER = new TableHeader(['time', 'sender', 'text']);

/** Date and time, with digits in the order of the country, optionally with am or pm. */
const TIME = String.raw`(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\.?,?\s(?:à\s|at\s|um\s)?\d{1,2}[:.]\d{2}(?:[:.]\d{2})?(?:\s?[ap]\.?\s?m\.?)?)`;

/**
 * The start of a message in a WhatsApp export: `31/12/2023, 21:15 - Ann: ` on Android, `[31/12/2023, 21:15:07] Ann: `
 * on iOS. A notice, for example that someone joined, has no sender.
 */
// Every repetition is bounded, and at most HEAD_BYTES of a line are examined.
const START = new RegExp(
  String.raw`^[\u200e\u200f\ufeff]{0,2}(?:\[${TIME}\]|${TIME}\s[-–])\s(?:([^:\n]{1,100}): ?)?`,
  'iu',
);

/** Lines examined at the beginning of a file. */
const EXAMINED_LINES = 200;
/** More than one, because a plain note may begin with such a line. */
const MIN_MESSAGES = 2;

/** Whether a text begins with a chat message, and contains at least `MIN_MESSAGES` from a sender. */
export function beginsWithMessages(head: Buffer, isComplete: boolean): boolean {
  const lines = head.toString().split('\n', EXAMINED_LINES + 1);
  if (!isComplete && lines.length <= EXAMINED_LINES) lines.pop();
  const starts = lines.filter((line) => /\S/.test(line)).map((line) => START.exec(line.slice(0, HEAD_BYTES)));
  return (
    (starts[0] ?? null) !== null && starts.filter((start) => start?.[3] !== undefined).length >= MIN_MESSAGES
  );
}

/**
 * Reads the messages of a chat from lines of text. A message extends to the line that starts the next one. Its row is
 * its position in the chat. Buffers one message of up to `limit` bytes.
 */
export class ChatReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #limit: number;
  readonly #window = new ByteWindow();
  /** Offset of the current message. */
  #start = 0;
  #startLine = 1;
  #row = 0;
  /** Offset of the line being read, and whether it has been checked for the start of a message. */
  #lineStart = 0;
  #line = 1;
  #isLooked = false;
  #searchFrom = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    this.#window.append(chunk);
    let records: SourceRecord[] = [];
    let batchStart = this.#searchFrom;
    while (this.#look(false, records)) {
      const newline = this.#window.indexOf(LF, this.#searchFrom);
      if (newline < 0) {
        this.#searchFrom = this.#window.end;
        break;
      }
      this.#lineStart = this.#searchFrom = newline + 1;
      this.#line++;
      this.#isLooked = false;
      if (this.#searchFrom - batchStart < BATCH_BYTES) continue;
      yield records;
      records = [];
      batchStart = this.#searchFrom;
    }
    const known = this.#isLooked ? this.#window.end : this.#lineStart;
    this.#window.dropBefore(known - this.#start > this.#limit ? known : this.#start);
    if (records.length > 0) yield records;
  }

  *end(): Generator<RecordBatch, void> {
    const records: SourceRecord[] = [];
    this.#look(true, records);
    this.#endMessage(this.#window.end, records);
    yield records;
  }

  /**
   * Ends the current message if the line starts a new one. Returns false if too little of the line has been read to
   * decide.
   */
  #look(isEnd: boolean, records: SourceRecord[]): boolean {
    if (this.#isLooked) return true;
    const { end } = this.#window;
    const upTo = Math.min(end, this.#lineStart + HEAD_BYTES);
    const newline = this.#window.indexOf(LF, this.#lineStart, upTo);
    if (newline < 0 && upTo - this.#lineStart < HEAD_BYTES && !isEnd) return false;
    const line = this.#window.slice(this.#lineStart, newline < 0 ? upTo : newline);
    if (START.test(line.toString())) this.#endMessage(this.#lineStart, records);
    return (this.#isLooked = true);
  }

  #endMessage(end: number, records: SourceRecord[]): void {
    const span = { start: this.#start, end };
    const line = this.#startLine;
    this.#start = end;
    this.#startLine = this.#line;
    const bytes = end - span.start;
    if (bytes === 0) return;
    const row = this.#row + 1;
    if (bytes > this.#limit) {
      this.#row = row;
      const error = itemError('ITEM_TOO_LARGE', `the message has ${bytes} bytes of at most ${this.#limit}`);
      records.push(badRecord(row, line, error));
      return;
    }
    const message = this.#window.slice(span.start, end);
    const written = message.toString();
    const [head = '', bracketed, plain, sender = ''] = START.exec(written.slice(0, HEAD_BYTES)) ?? [];
    if (head === '' && !/\S/.test(written)) return;
    this.#row = row;
    if (!isUtf8(message)) {
      const error = itemError('INVALID_ENCODING', 'the message holds bytes that are not text');
      records.push(badRecord(row, line, error));
      return;
    }
    const text = written.slice(head.length).replace(/\r?\n$/, '');
    const content = new TableRow(HEADER, [bracketed ?? plain ?? '', sender, text]);
    records.push({ row, line, span, content, error: null });
  }
}
