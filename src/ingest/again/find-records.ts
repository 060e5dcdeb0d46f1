import { setImmediate } from 'node:timers/promises';
import type { RecordReader, SourceRecord } from '../../formats/record.ts';
import { JsonReader } from '../../formats/json/json-reader.ts';
import { readerFor } from '../recognise/examine.ts';
import type { TextLayout } from '../recognise/recognise-layout.ts';
import type { Checkpoint } from './checkpoints.ts';
import type { SourceForm } from './source-form.ts';
import type { SourceText } from './source-text.ts';

const LF = 0x0a;
const CR = 0x0d;

/** Bytes parsed at a time: one record is wanted. */
const PART_BYTES = 16 * 1024;

const ARRAY = Buffer.from('[');
const NO_BYTES = Buffer.alloc(0);

/** Where an outcome line says that a record is. */
interface Place {
  readonly row: number;
  readonly line: number;
}

/**
 * The record at a place of a file, read from the checkpoint before it; null if there is none. What was read on the way
 * becomes checkpoints. A file that is not read as it was when it was judged may give another record.
 */
export function findRecord(
  form: SourceForm & { readonly layout: TextLayout },
  text: SourceText,
  place: Place,
  recordBytes: number,
): Promise<SourceRecord | null> {
  const { layout } = form;
  return layout.kind === 'csv' || layout.kind === 'jsonl'
    ? recordOnLine(form, text, place, readerFor(layout, recordBytes))
    : recordAtRow(form, text, place, recordBytes);
}

/** Finds a record by its line: most lines are only counted. */
async function recordOnLine(
  { layout, header, checkpoints }: SourceForm,
  text: SourceText,
  { row, line }: Place,
  reader: RecordReader,
): Promise<SourceRecord | null> {
  const startsOf = layout.kind === 'csv' && layout.lineBreak === '\r' ? startsAfterCr : startsAfterLf;
  const near = checkpoints.before(line);
  const offset =
    near.number === line ? near.offset : await offsetOfLine(line, near, startsOf, { text, checkpoints });
  if (offset === null) return null;
  for await (const record of recordsIn(reader, header, text.from(offset))) {
    return { ...record, row, line };
  }
  return null;
}

/** The offsets in a piece of text at which lines start; `before` is the byte before the piece. */
type LineStarts = (piece: Buffer, before: number | undefined) => Iterable<number>;

async function offsetOfLine(
  line: number,
  from: Checkpoint,
  startsOf: LineStarts,
  { text, checkpoints }: { readonly text: SourceText } & Pick<SourceForm, 'checkpoints'>,
): Promise<number | null> {
  let { number, offset } = from;
  let before: number | undefined;
  for await (const piece of text.from(offset)) {
    for (const start of startsOf(piece, before)) {
      checkpoints.add(++number, offset + start);
      if (number === line) return offset + start;
    }
    offset += piece.length;
    before = piece.at(-1) ?? before;
    await setImmediate();
  }
  return null;
}

function* startsAfterLf(piece: Buffer): Generator<number> {
  for (let end = piece.indexOf(LF); end >= 0; end = piece.indexOf(LF, end + 1)) yield end + 1;
}

/** A line ends with CR, LF or CR LF, so that whether it has ended is known by the byte after a CR. */
function* startsAfterCr(piece: Buffer, before: number | undefined): Generator<number> {
  for (let at = 0; at < piece.length; at++) {
    const last = at === 0 ? before : piece[at - 1];
    if (piece[at] === LF) yield at + 1;
    else if (last === CR) yield at;
  }
}

/** Finds a record of JSON by counting rows: several may be on one line. */
async function recordAtRow(
  { layout, checkpoints }: SourceForm,
  text: SourceText,
  { row, line }: Place,
  recordBytes: number,
): Promise<SourceRecord | null> {
  const near = checkpoints.before(row);
  const isArray = layout.kind !== 'json-values';
  // At the first row, the text begins with the bracket of the array.
  const before = isArray && near.number > 1 ? ARRAY : NO_BYTES;
  const reader = new JsonReader(isArray ? 'array' : 'values', recordBytes);
  for await (const record of recordsIn(reader, before, text.from(near.offset))) {
    const found = near.number - 1 + record.row;
    if (record.error === null && record.span !== undefined) {
      checkpoints.add(found, near.offset + record.span.start - before.length);
    }
    if (found === row) return { ...record, row, line };
    if (found > row) return null;
  }
  return null;
}

/** The records in a text that begins with `before`. */
async function* recordsIn(
  reader: RecordReader,
  before: Buffer,
  pieces: AsyncGenerator<Buffer, void>,
): AsyncGenerator<SourceRecord, void> {
  for (const batch of reader.push(before)) yield* batch;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += PART_BYTES) {
      for (const batch of reader.push(piece.subarray(at, at + PART_BYTES))) yield* batch;
      await setImmediate();
    }
  }
  for (const batch of reader.end()) yield* batch;
}
