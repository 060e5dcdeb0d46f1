import type { ItemError } from '../domain/item-error.ts';

/** The named values of one record: a row of a table, or a JSON object. */
export interface Fields {
  /**
   * The value under a name: exactly as spelled, otherwise under the first name that differs only in letter case.
   * Undefined if there is none.
   */
  get(name: string): unknown;
  /** All names, as spelled; a table may contain equal names. */
  names(): readonly string[];
  /** The value of the name at an index of `names`. */
  at(position: number): unknown;
  /** Index in `names` of the value that `get` returns for a name; undefined if there is none. */
  positionOf(name: string): number | undefined;
  /** Names, as spelled, whose values are lists or objects; a table has none. */
  nestedNames(): readonly string[];
}

/** Content of a record: named values, a bare string, or a bare list of turns. */
export type RecordContent = Fields | string | readonly unknown[];

interface Position {
  /** 1-based, not counting the header. */
  readonly row: number;
  /** 1-based physical line on which the record starts; null in a file without lines. */
  readonly line: number | null;
}

/** A range of bytes in the UTF-8 text of a file, excluding the byte order mark: from `start` up to `end`. */
export interface ByteSpan {
  readonly start: number;
  readonly end: number;
}

export interface ReadRecord extends Position {
  /**
   * The record's own bytes, including the line break that ends it in a table or in JSON Lines. Absent if the record has
   * none.
   */
  readonly span?: ByteSpan;
  /**
   * Whether the record is the object around the array of records. It creates no item if it contains nothing to judge.
   */
  readonly isWrapper?: true;
  readonly content: RecordContent;
  readonly error: null;
}

/** A record that could not be read. Does not affect other records. */
interface BadRecord extends Position {
  /** Whether the record is not valid JSON, so its end is a guess. */
  readonly isBroken?: true;
  readonly content: null;
  readonly error: ItemError;
}

export type SourceRecord = ReadRecord | BadRecord;

/** Consecutive records, in order. */
export type RecordBatch = readonly SourceRecord[];

/**
 * Takes the UTF-8 bytes of one file in pieces of any size and returns its records in order. The records do not depend
 * on how the file is split into pieces. Records are returned in batches, which are produced lazily, because one piece
 * can yield many records: a bad record may be rescanned as many. Consume all batches of a piece before pushing the
 * next.
 */
export interface RecordReader {
  push(chunk: Buffer): Iterable<RecordBatch>;
  /** Returns the records that are complete only at the end of the file. */
  end(): Iterable<RecordBatch>;
  /**
   * After `end`, the offset from which the file must be pushed and ended again, because a bad record must be rescanned
   * whose bytes are no longer buffered. Null if everything was read.
   */
  readonly rereadFrom: number | null;
}

/** Bytes per batch of records, unless a single record is longer. */
export const BATCH_BYTES = 64 * 1024;

/**
 * Maximum bytes of one record that a reader buffers, for items of up to `itemBytes`. A record is larger than its text
 * because of escapes and other values.
 */
export function recordBytesLimit(itemBytes: number): number {
  return 2 * itemBytes + 1024 * 1024;
}

export function isReadonlyArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isFields(content: RecordContent | null): content is Fields {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

export function badRecord(row: number, line: number | null, error: ItemError): BadRecord {
  return { row, line, content: null, error };
}

/** Reads all records in the bytes with a new reader. `isComplete` means that they are the whole file. */
export function recordsOf(reader: RecordReader, bytes: Buffer, isComplete: boolean): SourceRecord[] {
  const records = [...reader.push(bytes)].flat();
  return isComplete ? records.concat(...reader.end()) : records;
}

/** A plausible column name: up to three words of letters, digits and `_.()/-`, 40 characters in total. */
// Takes linear time, since the lookahead admits at most 40 characters.
const NAME = /^(?=.{1,40}$)[\p{L}_][\p{L}\p{M}\p{N}_.()/-]*( [\p{L}\p{M}\p{N}_.()/-]+){0,2}$/u;

/**
 * Returns the label of a column for the terminal. The first row of a table without a header is content and must not be
 * printed, so a value that does not look like a name is replaced by its 1-based position.
 */
export function columnLabel(name: string, position: number): string {
  if (name === String(position)) return name;
  return looksLikeName(name) ? JSON.stringify(name) : `column ${position}`;
}

/** Whether a value looks like a column name rather than content. */
export function looksLikeName(name: string): boolean {
  return NAME.test(name.trim());
}
