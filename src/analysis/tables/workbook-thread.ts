/** Entry point of a thread that makes one workbook, and posts its bytes. */
import { parentPort, workerData } from 'node:worker_threads';
import { workbookBytes, type FlaggedRows, type WorkbookColumn } from './workbook.ts';

const [columns, flagged] = workerData as [readonly WorkbookColumn[], FlaggedRows];
parentPort!.postMessage(await workbookBytes(columns, flagged));
