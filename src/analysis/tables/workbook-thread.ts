/** Entry point of a thread that makes workbooks: takes a part, and posts the bytes of its workbook. */
import { on } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';
import { workbookBytes, type WorkbookColumn, type WorkbookPart } from './workbook.ts';

const columns = workerData as readonly WorkbookColumn[];
for await (const [part] of on(parentPort!, 'message') as AsyncIterable<[WorkbookPart]>) {
  parentPort!.postMessage(await workbookBytes(columns, part));
}
