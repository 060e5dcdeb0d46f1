import { fstatSync } from 'node:fs';
import { serveLines } from '../../../confinement/serve-lines.ts';
import { type Request, type ReadRow, TABLE_FD } from './messages.ts';
import { classifyError, openDatabase, ParquetTable } from './table.ts';

/** Entry point of a process that reads one Parquet file. It runs until its input ends or its parent kills it. */

const instance = await openDatabase();
let table: ParquetTable | null = null;
let rows: AsyncGenerator<readonly ReadRow[], void> | null = null;

async function answer(request: Request): Promise<object> {
  if (request.op === 'open') {
    table = await ParquetTable.open(instance);
    return { columns: table.names, rows: table.rows, holdsText: table.holdsText, nested: table.nested };
  }
  if (request.op === 'copy') return { rows: await table!.copy(request, fstatSync(TABLE_FD).size) };
  if (request.op === 'read') rows = table!.read(request);
  const next = await rows!.next();
  if (next.done === true) return { isEnd: true };
  return { rows: next.value, isEnd: next.value.at(-1)![0] === table!.rows - 1 };
}

await serveLines(async (request: Request) => {
  try {
    return await answer(request);
  } catch (error) {
    const kind = classifyError(error);
    return { problem: { kind, column: kind === 'encoding' ? await table!.findUndecodable() : null } };
  }
});
