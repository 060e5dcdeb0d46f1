/** Entry point of a thread that takes the rows of one workbook in batches, and posts its bytes. */
import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { workbookBytes, type WorkbookColumn, type WorkbookRow } from './workbook.ts';

const [columns, expected, total] = workerData as [readonly WorkbookColumn[], number, number];
const rows: WorkbookRow[] = [];
for await (const [batch] of on(parentPort!, 'message') as AsyncIterable<[readonly WorkbookRow[]]>) {
  rows.push(...batch);
  if (rows.length >= expected) break;
}
parentPort!.postMessage(await workbookBytes(columns, rows, total));
