import type { Stretch } from '../../../formats/encoding/original-text.ts';
import type { ReadRecord } from '../../../formats/record.ts';
import type { RereadSource } from '../../../ingest/reread/reread-source.ts';
import type { OutputFile } from '../output/output-file.ts';
import { SourceRefused } from '../source-refused.ts';

/** Where text is added to a record: in place of its text from `at` up to `upTo`; only ASCII may follow `at`. */
interface Insertion {
  /** ASCII. */
  readonly text: string;
  readonly at: number;
  readonly upTo: number;
}

/** Adds text to a record, of which it takes the text. */
export type Addition = (record: Buffer) => Insertion;

/** Adds records of a source to a file in its own layout, in order, as they are. Its caller drains the file. */
export interface RecordsWriter {
  /** Writes a record, with an addition or as it is. */
  keep(record: ReadRecord, addition: Addition | null): void;
  /** Leaves a record out. */
  drop(record: ReadRecord): void;
  /** Writes what is behind the last record. To be called once. */
  end(): void;
}

/** What records are copied from and to. */
export interface Copying {
  readonly source: RereadSource;
  readonly out: OutputFile;
}

/** The stretch up to an offset; null if it is not known any more. */
export function stretchTo({ original, encoding }: RereadSource, offset: number): Stretch | null {
  return original.take(offset, encoding);
}

/** The stretch of a record. SourceRefused if it is not known any more. */
export function stretchOf(source: RereadSource, { span }: ReadRecord): Stretch {
  const stretch = span === undefined ? null : stretchTo(source, span.end);
  if (stretch === null) throw new SourceRefused('row_too_large');
  return stretch;
}

/** Adds a stretch to the file, with an addition or as it is. */
export function addStretch(
  { source, out }: Copying,
  { bytes, text }: Stretch,
  addition: Addition | null,
): void {
  if (addition === null) {
    out.add(bytes);
    return;
  }
  const added = addition(text);
  // Bytes of one character of ASCII: the bytes from `at` on are that many times as long as their text.
  const size = source.original.ascii(' ').length;
  out.add(bytes.subarray(0, bytes.length - size * (text.length - added.at)));
  out.add(source.original.ascii(added.text));
  out.add(bytes.subarray(bytes.length - size * (text.length - added.upTo)));
}

/** White space as readers pass over it between records, with the end-of-file character of DOS (Ctrl-Z). */
const BLANK = /^[\s\ufeff\u001a]*$/u;

/** Whether there is nothing but white space in a text. */
export function isWhiteSpace(text: Buffer): boolean {
  return text.length === 0 || BLANK.test(text.toString());
}
