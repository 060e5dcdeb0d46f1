import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { TableHeader } from '../../formats/csv/table-row.ts';
import { type RowChoice, copyTable } from '../../formats/parquet/write-table.ts';
import type { ReadRecord } from '../../formats/record.ts';
import type { RereadRecords, RereadRow, RereadSource } from '../../ingest/reread/reread-source.ts';
import { columnValue, headerCells, memberOf, rowCells } from './layouts/annotations.ts';
import { ElementRecords } from './layouts/element-records.ts';
import { LineRecords } from './layouts/line-records.ts';
import type { Addition, RecordsWriter } from './layouts/records-writer.ts';
import type { RowCounts } from './left-out.ts';
import type { RowModeration } from './moderation.ts';
import type { OutputFile } from './output.ts';
import { type KeptRow, RowDecisions } from './row-decisions.ts';
import type { ExportKind, JudgedSource, SourceExport } from './source-export.ts';
import { SourceRefused } from './reasons.ts';

/** Copies the rows of a source. SourceRefused if it is not the file that was judged. */
export async function copyRows(
  again: RereadSource,
  records: RereadRecords,
  out: OutputFile,
  { source, sha256 }: JudgedSource,
  to: SourceExport,
): Promise<RowCounts> {
  const decisions = new RowDecisions(source.path, to);
  if (records.layout.kind === 'parquet') await copyParquet(again, records, out, decisions, to);
  else await copyText(again, records, out, decisions, to);
  const { hasFileLine } = await to.cursor.passSource(source.path);
  // A trial of the first records does not hash tables that it reads only in part.
  const isSame =
    sha256 === null && to.keeping.isTrial ? again.matchesSnapshot(source) : again.sha256() === sha256;
  if (hasFileLine || !isSame || !again.stayedAsOpened()) throw new SourceRefused('source_changed');
  return decisions.counts;
}

async function copyText(
  again: RereadSource,
  records: RereadRecords,
  out: OutputFile,
  decisions: RowDecisions,
  to: SourceExport,
): Promise<void> {
  const { what } = to;
  const { layout } = records;
  const copying = { source: again, out };
  const writer: RecordsWriter =
    layout.kind === 'csv' || layout.kind === 'jsonl' || layout.kind === 'chat'
      ? new LineRecords(copying, () => headerAddition(records, what))
      : new ElementRecords(copying, layout.kind);
  for await (const batch of again.rows(records)) {
    for (const { record, items } of batch) {
      const decided = decisions.of({ record, items });
      const moderation = decided instanceof Promise ? await decided : decided;
      // The bytes of a bad record, and of a wrapper, are skipped like those between rows.
      if (record.error !== null || record.span === undefined) continue;
      const addition = moderation === null ? null : additionTo(record, records, what, moderation);
      if (moderation !== null && addition !== null) writer.keep(record, addition.added);
      else writer.drop(record);
      if (moderation !== null && addition === null) decisions.withoutPlace(record);
    }
    await out.drain();
    await to.leftOut.drain();
  }
  writer.end();
  await out.drain();
}

/** Rows of a Parquet file have no bytes of their own: their values are written again, with the same schema. */
async function copyParquet(
  again: RereadSource,
  records: RereadRecords,
  out: OutputFile,
  decisions: RowDecisions,
  { what, leftOut, signal }: SourceExport,
): Promise<void> {
  let kept = 0;
  const written = await copyTable({
    table: await again.table(),
    addedColumn: what.kind === 'annotate' ? what.key : null,
    choices: choices(),
    write: (bytes) => out.write(bytes),
    signal,
  });
  if (written !== kept) throw new SourceRefused('read_differently');

  async function* choices(): AsyncGenerator<readonly RowChoice[], void> {
    for await (const batch of again.rows(records)) {
      const chosen: RowChoice[] = [];
      for (const row of batch) {
        const decided = decisions.of(row);
        const choice = choiceOf(row, what, decided instanceof Promise ? await decided : decided);
        if (choice !== 'left-out') kept++;
        chosen.push(choice);
      }
      yield chosen;
      await leftOut.drain();
    }
  }
}

function choiceOf(row: RereadRow, what: ExportKind, moderation: KeptRow | null): RowChoice {
  if (moderation === null || row.record.error !== null) return 'left-out';
  if (what.kind === 'annotate') return { added: columnValue(row.record, what.key, moderation.value!) };
  return { added: null };
}

function headerAddition({ layout, reader }: RereadRecords, what: ExportKind): Addition | null {
  if (what.kind === 'clean' || layout.kind !== 'csv' || !layout.header) return null;
  return headerCells(headerOf(reader), layout, what.key);
}

/**
 * The text to add to a row that is kept; nothing for a clean export. Null if the row has no place for an annotation.
 */
function additionTo(
  record: ReadRecord,
  { layout, reader }: RereadRecords,
  what: ExportKind,
  { value }: { readonly value: RowModeration | null },
): { readonly added: Addition | null } | null {
  if (what.kind === 'clean' || value === null) return { added: null };
  if (layout.kind === 'chat') return null;
  const added =
    layout.kind === 'csv' ? rowCells(value, headerOf(reader), layout) : memberOf(record, what.key, value);
  return added === null ? null : { added };
}

function headerOf(reader: RereadRecords['reader']): TableHeader {
  return (reader instanceof CsvReader ? reader.header : null) ?? new TableHeader([]);
}
