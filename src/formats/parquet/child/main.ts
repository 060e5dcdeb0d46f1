import { createWriteStream, fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { type TableReply, type Request, type ReadRow, TABLE_FD } from './messages.ts';
import { classifyError, openDatabase, ParquetTable } from './table.ts';

/** Entry point of a process that reads one Parquet file. It runs until its input ends or its parent kills it. */

// A service manager sends SIGTERM to every process of the service; the parent decides when this one ends.
process.on('SIGTERM', () => undefined);
// There is nothing to clean up, and an exit would wait for a query.
const answers = createWriteStream('', { fd: 1 });
answers.on('error', () => process.kill(process.pid, 'SIGKILL'));

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

for await (const line of createInterface({ input: process.stdin })) {
  let result: object;
  try {
    result = await answer(JSON.parse(line) as Request);
  } catch (error) {
    const kind = classifyError(error);
    result = { problem: { kind, column: kind === 'encoding' ? await table!.findUndecodable() : null } };
  }
  const { user, system } = process.cpuUsage();
  const reply = { ...result, cpuMs: (user + system) / 1000 } as TableReply;
  answers.write(`${JSON.stringify(reply)}\n`);
}
process.kill(process.pid, 'SIGKILL');
