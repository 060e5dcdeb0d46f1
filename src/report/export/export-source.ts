import { createHash } from 'node:crypto';
import type { SourceConfig } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { NotAnOrdinaryFile } from '../../files/open-file.ts';
import { OutsideFolder } from '../../files/open-inside.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { OriginalText } from '../../formats/encoding/original-text.ts';
import type { ReadRecord } from '../../formats/record.ts';
import { type RecordsAgain, type RowAgain, SourceAgain } from '../../ingest/items/source-again.ts';
import type { FrozenSidecar, FrozenSource } from '../../ingest/plan/plan-line.ts';
import { CorruptGzip, fileBytes, isAsFrozen } from '../../ingest/sources/file-bytes.ts';
import { openPlace, placeOfDescription } from '../../ingest/sources/file-place.ts';
import { headerCells, memberOf, rowCells } from './layouts/annotations.ts';
import { ElementRecords } from './layouts/element-records.ts';
import { LineRecords } from './layouts/line-records.ts';
import type { Addition, Copying, RecordsWriter } from './layouts/records-writer.ts';
import { type LeftOut, noRows, type RowCounts } from './left-out.ts';
import { moderationOf } from './moderation.ts';
import type { OutputFile, WrittenFile } from './output/output-file.ts';
import type { OutputPlace } from './output/output-place.ts';
import { fileReasons, rowReasons } from './reasons.ts';
import { SourceRefused } from './source-refused.ts';
import type { VerdictCursor } from './verdict-cursor.ts';

/**
 * What is exported: `clean`, the rows that are allowed (with `keepReview` also those to be reviewed) as they are, or
 * `annotate`, all rows with what the run found, under `key`.
 */
export type ExportKind =
  | { readonly kind: 'clean'; readonly keepReview: boolean }
  | { readonly kind: 'annotate'; readonly key: string };

/** What sources are exported from and to. */
export interface SourceExport {
  readonly what: ExportKind;
  readonly cursor: VerdictCursor;
  readonly place: OutputPlace;
  readonly leftOut: LeftOut;
  /** Whether the run judged a selection of the records only. */
  readonly isTrial: boolean;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  readonly signal: AbortSignal;
}

/** A source as the run read it. */
export interface JudgedSource {
  readonly source: FrozenSource;
  readonly config: SourceConfig;
  /** SHA-256 of the file as it was judged; null if the run could not tell. */
  readonly sha256: string | null;
  /** The text that was judged with the file and is no source itself; null if there is none. */
  readonly caption: FrozenSidecar | null;
}

/** What became of a source; `file` is null if nothing of it was written. */
export interface ExportedSource {
  readonly counts: RowCounts;
  readonly file: WrittenFile | null;
}

/**
 * Exports one source: its rows, or the file if that is one item. Rejects with SourceRefused if nothing of it may be
 * exported, with Failure if the export as a whole cannot be written.
 */
export async function exportSource(judged: JudgedSource, to: SourceExport): Promise<ExportedSource> {
  const { source } = judged;
  if (source.manifest === source.source) throw new SourceRefused('list_of_files');
  const first = await to.cursor.peek();
  const isFile = first?.source.path === source.path && first.source.row === null;
  const lines = isFile ? await to.cursor.linesOf(source.path, null) : [];
  const reasons = isFile ? fileReasons(lines, to.what.kind === 'clean' && to.what.keepReview) : [];
  if (reasons.length > 0) {
    const counts = noRows();
    await to.leftOut.row(source.path, { row: null, line: null }, reasons, counts);
    return { counts, file: null };
  }
  if (isFile && to.what.kind === 'annotate') throw new SourceRefused('whole_file');
  return readAgain(judged, to, async (again) => {
    if (isFile) {
      return writing(to, source, again, async (out) => {
        const counts = await copyFile(again, out, lines, judged);
        if (judged.caption !== null) await copyCaption(judged.caption, to);
        return counts;
      });
    }
    const { records } = again;
    if (records === null) return notJudged(source, to);
    return writing(to, source, again, (out) => copyRows(again, records, out, judged, to));
  });
}

/** A file that is one item and has no outcome. */
async function notJudged(
  { path }: FrozenSource,
  { leftOut, cursor, isTrial }: SourceExport,
): Promise<ExportedSource> {
  if ((await cursor.peek())?.source.path === path) throw new SourceRefused('read_differently');
  const counts = noRows();
  await leftOut.row(
    path,
    { row: null, line: null },
    [{ reason: isTrial ? 'not_selected' : 'not_judged' }],
    counts,
  );
  return { counts, file: null };
}

/** Opens a source for `work`; translates what is wrong with it. */
async function readAgain<T>(
  { source, config }: JudgedSource,
  { itemBytes, signal }: SourceExport,
  work: (again: SourceAgain) => Promise<T>,
): Promise<T> {
  try {
    const again = await SourceAgain.open(source, config, { itemBytes, signal });
    try {
      return await work(again);
    } finally {
      await again.close();
    }
  } catch (cause) {
    signal.throwIfAborted();
    const isOther = cause instanceof NotAnOrdinaryFile || cause instanceof OutsideFolder;
    if (isOther) throw new SourceRefused('source_changed', { cause });
    const isSystems = cause instanceof Error && 'syscall' in cause;
    if (isSystems || cause instanceof CorruptGzip) throw new SourceRefused('source_unreadable', { cause });
    throw cause;
  }
}

/** Creates the file for a source and removes it again if `work` fails. */
async function writing(
  { place }: SourceExport,
  { path }: FrozenSource,
  again: SourceAgain,
  work: (out: OutputFile) => Promise<RowCounts>,
): Promise<ExportedSource> {
  const out = await place.create(path, again.records !== null && again.isCompressed);
  try {
    const counts = await work(out);
    return { counts, file: await out.complete() };
  } catch (error) {
    await out.close();
    await place.remove(path);
    throw error;
  }
}

/** Copies a file that is one item. SourceRefused if it is not the one that was judged. */
async function copyFile(
  again: SourceAgain,
  out: OutputFile,
  [line]: readonly OutcomeLine[],
  { sha256 }: JudgedSource,
): Promise<RowCounts> {
  const hash = createHash('sha256');
  for await (const piece of again.stored()) {
    hash.update(piece);
    await out.write(piece);
  }
  const found = hash.digest('hex');
  if (found !== sha256 || found !== line!.source.sha256) throw new SourceRefused('source_changed');
  return { ...noRows(), kept: 1 };
}

/** Copies the text that was judged with a file. SourceRefused if it has changed since the run was created. */
async function copyCaption(caption: FrozenSidecar, { place, signal }: SourceExport): Promise<void> {
  const handle = await openPlace(placeOfDescription(caption));
  try {
    const assertSame = async (): Promise<void> => {
      if (!isAsFrozen(await handle.stat(), caption)) throw new SourceRefused('source_changed');
    };
    await assertSame();
    const out = await place.create(caption.path, false);
    try {
      for await (const piece of fileBytes(handle, caption.bytes, signal)) await out.write(piece);
      await assertSame();
      await out.complete();
    } catch (error) {
      await out.close();
      await place.remove(caption.path);
      throw error;
    }
  } finally {
    await handle.close();
  }
}

/** Copies the rows of a source. SourceRefused if it is not the one that was judged. */
async function copyRows(
  again: SourceAgain,
  records: RecordsAgain,
  out: OutputFile,
  { source, sha256 }: JudgedSource,
  to: SourceExport,
): Promise<RowCounts> {
  const rows = new RowsCopy({ source: again, out }, records, source.path, to);
  for await (const batch of again.rows(records)) {
    // Of a stateful encoding no row can be taken out; which one it is may show late.
    if (!OriginalText.canSplit(again.encoding)) throw new SourceRefused('encoding');
    for (const row of batch) await rows.add(row);
  }
  const counts = await rows.end();
  const { hasFileLine } = await to.cursor.passSource(source.path);
  // A trial of the first records does not hash the tables that it reads in part.
  const isSame = sha256 === null && to.isTrial ? await again.isAsFrozen(source) : again.sha256() === sha256;
  if (hasFileLine || !isSame) throw new SourceRefused('source_changed');
  return counts;
}

/** Copies rows one by one, with what was found in them. */
class RowsCopy {
  readonly #records: RecordsAgain;
  readonly #path: string;
  readonly #to: SourceExport;
  readonly #writer: RecordsWriter;
  readonly #counts = noRows();

  constructor(copying: Copying, records: RecordsAgain, path: string, to: SourceExport) {
    this.#records = records;
    this.#path = path;
    this.#to = to;
    const { layout } = records;
    if (layout.kind === 'csv' || layout.kind === 'jsonl') {
      this.#writer = new LineRecords(copying, () => this.#headerAddition());
    } else this.#writer = new ElementRecords(copying, layout.kind);
  }

  async add({ record, items }: RowAgain): Promise<void> {
    const { what, cursor, leftOut, isTrial } = this.#to;
    const lines = await cursor.linesOf(this.#path, record.row);
    const isAround = record.error === null && record.isAround === true;
    if (isAround && items.length === 0 && lines.length === 0) return;
    const isClean = what.kind === 'clean';
    const reasons = rowReasons(items, lines, { keepReview: isClean && what.keepReview, isTrial });
    if (isAround) reasons.push({ reason: 'around' });
    if (record.error !== null || record.span === undefined) {
      if (reasons.length === 0) reasons.push({ reason: 'not_judged' });
      await leftOut.row(this.#path, record, reasons, this.#counts);
      return;
    }
    if (isClean && reasons.length > 0) {
      await this.#writer.drop(record);
      await leftOut.row(this.#path, record, reasons, this.#counts);
      return;
    }
    const addition = isClean ? null : this.#additionTo(record, moderationOf(items, lines), what.key);
    if (!isClean && addition === null) {
      await this.#writer.drop(record);
      await leftOut.row(this.#path, record, [{ reason: 'no_object' }], this.#counts);
      return;
    }
    await this.#writer.keep(record, addition);
    this.#counts.kept++;
  }

  async end(): Promise<RowCounts> {
    await this.#writer.end();
    return this.#counts;
  }

  #headerAddition(): Addition | null {
    const { what } = this.#to;
    const { layout, reader } = this.#records;
    if (what.kind === 'clean' || layout.kind !== 'csv' || !layout.header) return null;
    const names = reader instanceof CsvReader ? (reader.header?.names ?? []) : [];
    return headerCells(names, layout.delimiter, what.key);
  }

  #additionTo(record: ReadRecord, moderation: ReturnType<typeof moderationOf>, key: string): Addition | null {
    const { layout } = this.#records;
    return layout.kind === 'csv' ? rowCells(moderation, layout.delimiter) : memberOf(record, key, moderation);
  }
}
