import type { ReadRecord } from '../../../formats/record.ts';
import type { RereadSource } from '../../../ingest/reread/reread-source.ts';
import type { OutputFile } from '../output.ts';
import { SourceRefused } from '../reasons.ts';

/** An insertion into a record: it replaces the record's text from `at` up to `upTo`. */
interface Insertion {
  readonly text: string;
  readonly at: number;
  readonly upTo: number;
}

/** Returns the insertion for the text of a record. */
export type Addition = (record: Buffer) => Insertion;

/** Adds records of a source to a file in its own layout, in order and unchanged. Its caller drains the file. */
export interface RecordsWriter {
  /** Writes a record, with an addition or unchanged. */
  keep(record: ReadRecord, addition: Addition | null): void;
  /** Excludes a record. */
  drop(record: ReadRecord): void;
  /** Writes the text after the last record. Must be called once. */
  end(): void;
}

/** Source and destination of the records. */
export interface Copying {
  readonly source: RereadSource;
  readonly out: OutputFile;
}

/** The part of the text up to an offset; null if it is no longer available. */
export function stretchTo({ textWindow }: RereadSource, offset: number): Buffer | null {
  return textWindow.take(offset);
}

/** The text of a record. SourceRefused if it is no longer available. */
export function stretchOf(source: RereadSource, { span }: ReadRecord): Buffer {
  const stretch = span === undefined ? null : stretchTo(source, span.end);
  if (stretch === null) throw new SourceRefused('row_too_large');
  return stretch;
}

/** Adds text to the file, with an addition or unchanged. */
export function addStretch({ out }: Copying, text: Buffer, addition: Addition | null): void {
  if (addition === null) {
    out.add(text);
    return;
  }
  const added = addition(text);
  out.add(text.subarray(0, added.at));
  out.add(Buffer.from(added.text));
  out.add(text.subarray(added.upTo));
}

/** White space that readers skip between records, and the end-of-file character of DOS (Ctrl-Z). */
const BLANK = /^[\s\ufeff\u001a]*$/u;

/** Whether text is blank. */
export function isWhiteSpace(text: Buffer): boolean {
  return text.length === 0 || BLANK.test(text.toString());
}
