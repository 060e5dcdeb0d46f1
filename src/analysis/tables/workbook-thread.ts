/** Entry point of a thread that makes one workbook and posts its bytes. */
import { parentPort, workerData } from 'node:worker_threads';
import { workbookBytes, type WorkbookColumn, type WorkbookPart } from './workbook.ts';

export interface WorkbookTask {
  readonly columns: readonly WorkbookColumn[];
  readonly part: WorkbookPart;
}

const { columns, part } = workerData as WorkbookTask;
parentPort!.postMessage(await workbookBytes(columns, part));
