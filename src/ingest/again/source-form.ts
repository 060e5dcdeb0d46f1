import type { SourceConfig } from '../../config/run-config.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { encodingByMark, markBytes } from '../../formats/encoding/decoder.ts';
import { recordBytesLimit, recordsOf } from '../../formats/record.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import type { FrozenSource } from '../plan/plan-line.ts';
import { examine, readerFor } from '../recognise/examine.ts';
import type { RecordLayout, TextLayout } from '../recognise/recognise-layout.ts';
import { encodingOf, isNamedFile } from '../sources/named-file.ts';
import type { OpenSource, SourceHead } from '../sources/open-source.ts';
import { Checkpoints } from './checkpoints.ts';

/** What is kept of a file of records to find its records again. */
export interface SourceForm {
  readonly layout: RecordLayout;
  readonly options: RecordOptions;
  /** Of a table: its text before the first row. Empty in other layouts. */
  readonly header: Buffer;
  /** Size of the byte order mark of a file that is UTF-8 as it is stored; null for any other. */
  readonly plainFrom: number | null;
  /** Where lines begin in a table and in JSON Lines, and rows in other JSON. */
  readonly checkpoints: Checkpoints;
}

/** Null for a file that is one item, or whose records can only be read in order. */
export async function readForm(
  file: OpenSource,
  {
    source,
    config,
    itemBytes,
    signal,
  }: {
    readonly source: FrozenSource;
    readonly config: SourceConfig;
    readonly itemBytes: number;
    readonly signal: AbortSignal;
  },
): Promise<SourceForm | null> {
  const isNamed = isNamedFile(source, config);
  const head = await file.head(encodingOf(config, isNamed));
  const path = source.absolute;
  const examined = await examine({ file, head, config, isNamed, path, itemBytes, signal });
  if (examined.kind !== 'records') return null;
  const { layout, options } = examined;
  const header = layout.kind === 'csv' ? headerOf(layout, head, itemBytes) : Buffer.alloc(0);
  if (header === null) return null;
  const firstOffset = layout.kind === 'json-wrapped' ? layout.start : 0;
  const checkpoints = new Checkpoints({ number: 1, offset: firstOffset });
  return { layout, options, header, plainFrom: plainFrom(head, config), checkpoints };
}

/** Null for a header that is not within the head of the file, or that a stray quote is in. */
function headerOf(layout: TextLayout, head: SourceHead, itemBytes: number): Buffer | null {
  const reader = readerFor(layout, recordBytesLimit(itemBytes));
  if (!(reader instanceof CsvReader)) return null;
  recordsOf(reader, head.text, head.isComplete);
  return reader.bodyStart === null ? null : Buffer.from(head.text.subarray(0, reader.bodyStart));
}

/** Which encoding a file has whose encoding was named for its folder is known at its end. */
function plainFrom(head: SourceHead, { encoding }: SourceConfig): number | null {
  const marked = encodingByMark(head.raw);
  const isUtf8 = marked === 'utf-8' || (marked === null && encoding === null);
  return isUtf8 && !head.isCompressed ? markBytes(head.raw) : null;
}
