import { createWriteStream, fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type Problem, type TableReply, type Request, type ReadRow, TABLE_FD } from './messages.ts';
import { openDatabase, problemOf, ParquetTable } from './table.ts';

/** Entry point of a process that reads Parquet files. It runs until its input ends or its parent kills it. */

// A service manager sends SIGTERM to every process of the service; the parent decides when this one ends.
process.on('SIGTERM', () => undefined);
// There is nothing to clean up, and an exit would wait for a query.
const answers = createWriteStream('', { fd: 1 });
answers.on('error', () => process.kill(process.pid, 'SIGKILL'));

const instance = await openDatabase();
let table: ParquetTable | null = null;
let rows: AsyncGenerator<readonly ReadRow[], void> | null = null;

async function answer(request: Request): Promise<object> {
  switch (request.op) {
    case 'open':
      await rows?.return();
      table?.close();
      rows = table = null;
      table = await ParquetTable.open(instance);
      return { columns: table.names, rows: table.rows, holdsText: table.holdsText, nested: table.nested };
    case 'read':
      await rows?.return();
      rows = table!.read(request);
      return nextRows(table!, rows);
    case 'next':
      return nextRows(table!, rows!);
    case 'copy':
      return { rows: await table!.copy(request, fstatSync(TABLE_FD).size) };
  }
}

async function nextRows(of: ParquetTable, from: AsyncGenerator<readonly ReadRow[], void>): Promise<object> {
  const next = await from.next();
  if (next.done === true) return { isEnd: true };
  return { rows: next.value, isEnd: next.value.at(-1)![0] === of.rows - 1 };
}

for await (const line of createInterface({ input: process.stdin })) {
  let result: object;
  try {
    result = await answer(JSON.parse(line) as Request);
  } catch (error) {
    result = { problem: problemOf(error) satisfies Problem };
  }
  const { user, system } = process.cpuUsage();
  const reply = { ...result, cpuMs: (user + system) / 1000 } as TableReply;
  answers.write(`${JSON.stringify(reply)}\n`);
}
process.kill(process.pid, 'SIGKILL');
