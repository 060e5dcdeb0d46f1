import type { ItemError } from '../domain/item-error.ts';

/** The named values of one record: a row of a table, or a JSON object. */
export interface Fields {
  /**
   * The value under a name: as spelt, else under the first name that differs only in letter case. Undefined when
   * there is none.
   */
  get(name: string): unknown;
  /** All names, as spelt; in a table, some may be equal. */
  names(): readonly string[];
  /** The value of the name at an index of `names`. */
  at(position: number): unknown;
  /** Index in `names` of the one whose value `get` gives for a name; undefined when there is none. */
  positionOf(name: string): number | undefined;
  /** Names, as spelt, whose values are lists or objects; a table has none. */
  nestedNames(): readonly string[];
}

/** What a record holds: named values, a bare text, or a bare list (of turns). */
export type RecordContent = Fields | string | readonly unknown[];

interface Position {
  /** 1-based, a header excluded. */
  readonly row: number;
  /** 1-based physical line the record begins on. */
  readonly line: number;
}

export interface ReadRecord extends Position {
  /** The record is what stands around the others: no item when there is nothing in it to judge. */
  readonly isAround?: true;
  readonly content: RecordContent;
  readonly error: null;
}

/** A record that could not be read; the records around it are unharmed. */
interface BadRecord extends Position {
  readonly content: null;
  readonly error: ItemError;
}

export type SourceRecord = ReadRecord | BadRecord;

/** Some records, in order: as many as were read at once. */
export type RecordBatch = readonly SourceRecord[];

/**
 * Takes the UTF-8 bytes of one file in pieces of any size and gives its records in order. What the records are does
 * not depend on how the file is cut into pieces. A piece may end a record that was given up after many others, which
 * are then read again: so records come in batches, and are made as the batches are asked for. Ask for all the batches
 * of a piece before the next piece.
 */
export interface RecordReader {
  push(chunk: Buffer): Iterable<RecordBatch>;
  /** The records that only the end of the file completes. */
  end(): Iterable<RecordBatch>;
  /**
   * After the end: from which byte on the file is to be given once more, and ended again, because a record was given
   * up whose bytes are not held any more. Null when all is read.
   */
  readonly rereadFrom: number | null;
}

/** Bytes read for one batch of records, unless a single record is longer. */
export const BATCH_BYTES = 64 * 1024;

/**
 * Most bytes of one record that a reader holds, for items of up to `itemBytes`: a record is larger than its text by
 * escapes and by the values beside it.
 */
export function recordBytesLimit(itemBytes: number): number {
  return 2 * itemBytes + 1024 * 1024;
}

export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

export function isFields(content: RecordContent | null): content is Fields {
  return typeof content === 'object' && content !== null && !Array.isArray(content);
}

export function badRecord(row: number, line: number, error: ItemError): BadRecord {
  return { row, line, content: null, error };
}

/** The records that a reader, to which nothing was given yet, finds in bytes; in all of its file if they are that. */
export function recordsOf(reader: RecordReader, bytes: Buffer, isComplete: boolean): SourceRecord[] {
  const records = [...reader.push(bytes)].flat();
  return isComplete ? records.concat(...reader.end()) : records;
}
