import type { OutcomeLine } from '../../domain/outcome.ts';
import { NotRegularFileError } from '../../files/open-file.ts';
import { PathEscapesFolderError } from '../../files/open-inside.ts';
import { ParquetProblem } from '../../formats/parquet/table-process.ts';
import { readSidecar } from '../../ingest/items/whole-file-item.ts';
import { RereadSource } from '../../ingest/reread/reread-source.ts';
import type { SourceSnapshot } from '../../ingest/sources/sources-file.ts';
import { CorruptGzip } from '../../ingest/sources/file-bytes.ts';
import { copyCaption, copyFile } from './copy-file.ts';
import { copyRows } from './copy-rows.ts';
import { noRows, type RowCounts } from './left-out.ts';
import type { OutputFile, WrittenFile } from './output.ts';
import { fileReasons, type ReasonLine, restrictedReasons, SourceRefused } from './reasons.ts';
import type { ExportedSource, JudgedSource, SourceExport } from './source-export.ts';

/**
 * Exports one source: its rows, or the file if that is one item. Rejects with SourceRefused if no part of it may be
 * exported, with Failure if the export as a whole cannot be written.
 */
export async function exportSource(judged: JudgedSource, to: SourceExport): Promise<ExportedSource> {
  const { source } = judged;
  if (source.manifest === source.source) throw new SourceRefused('list_of_files');
  const first = await to.cursor.peek();
  const isFile = first?.source.path === source.path && first.source.row === null;
  const lines = isFile ? await to.cursor.linesOf(source.path, null) : [];
  const restricted = isFile
    ? await fileRestrictions(judged, lines, to)
    : restrictedReasons([], lines, to.keeping);
  const reasons = restricted.length > 0 || !isFile ? restricted : fileReasons(lines, to.keeping);
  if (reasons.length > 0) {
    const counts = noRows();
    to.leftOut.row(source.path, { row: null, line: null }, reasons, counts);
    await to.leftOut.drain();
    return { counts, file: null, caption: null, isConverted: false };
  }
  if (isFile && to.what.kind === 'annotate') throw new SourceRefused('whole_file');
  return readAgain(judged, to, async (again) => {
    if (isFile) {
      let caption: WrittenFile | null = null;
      const written = await writing(to, source, null, async (out) => {
        const counts = await copyFile(again, out, lines, judged);
        if (judged.caption !== null) caption = await copyCaption(judged.caption, to);
        return counts;
      });
      return { ...written, caption, isConverted: false };
    }
    const { records, isContainer, isCompressed } = again;
    if (isContainer) throw new SourceRefused('container');
    if (records === null) return notJudged(source, to);
    const written = await writing(to, source, isCompressed, (out) =>
      copyRows(again, records, out, judged, to),
    );
    return { ...written, caption: null, isConverted: !again.isUtf8 && records.layout.kind !== 'parquet' };
  });
}

/**
 * Why a file that is one item may not be in any export: the file, or the text that was judged with it, is restricted.
 */
async function fileRestrictions(
  { source: { sidecar }, config }: JudgedSource,
  lines: readonly OutcomeLine[],
  { keeping, signal }: SourceExport,
): Promise<ReasonLine[]> {
  const found = restrictedReasons([], lines, keeping);
  if (found.length > 0 || sidecar === null || !keeping.restrictions.isAnyListed) return found;
  // A caption that cannot be read, or has changed, is not copied either.
  const text = await readSidecar(sidecar, config, signal).catch(() => null);
  if (typeof text !== 'string') return [];
  const isHeld = keeping.restrictions.holds({ requestType: 'prompt', modality: 'text', text });
  return isHeld ? lines.map(({ seq, id }) => ({ reason: 'restricted', seq, id })) : [];
}

/** Lists a file that is one item and has no outcome. */
async function notJudged(
  { path }: SourceSnapshot,
  { leftOut, cursor, keeping: { isTrial } }: SourceExport,
): Promise<ExportedSource> {
  if ((await cursor.peek())?.source.path === path) throw new SourceRefused('read_differently');
  const counts = noRows();
  leftOut.row(path, { row: null, line: null }, [{ reason: isTrial ? 'not_selected' : 'not_judged' }], counts);
  await leftOut.drain();
  return { counts, file: null, caption: null, isConverted: false };
}

/** Opens a source for `work`; converts errors about the source to SourceRefused. */
async function readAgain<T>(
  { source, config }: JudgedSource,
  { itemBytes, signal }: SourceExport,
  work: (again: RereadSource) => Promise<T>,
): Promise<T> {
  try {
    const again = await RereadSource.open(source, config, { itemBytes, signal });
    try {
      return await work(again);
    } finally {
      await again.close();
    }
  } catch (cause) {
    signal.throwIfAborted();
    const isOther = cause instanceof NotRegularFileError || cause instanceof PathEscapesFolderError;
    if (isOther) throw new SourceRefused('source_changed', { cause });
    const isSystems = cause instanceof Error && 'syscall' in cause;
    const isDamaged = cause instanceof CorruptGzip || cause instanceof ParquetProblem;
    if (isSystems || isDamaged) throw new SourceRefused('source_unreadable', { cause });
    throw cause;
  }
}

/** Creates the file for a source, as `OutputPlace.create` does, and removes it again if `work` fails. */
async function writing(
  { place }: SourceExport,
  { path }: SourceSnapshot,
  isCompressed: boolean | null,
  work: (out: OutputFile) => Promise<RowCounts>,
): Promise<Pick<ExportedSource, 'counts' | 'file'>> {
  const out = await place.create(path, isCompressed);
  try {
    const counts = await work(out);
    return { counts, file: await out.complete() };
  } catch (error) {
    await out.close();
    await place.remove(path);
    throw error;
  }
}
