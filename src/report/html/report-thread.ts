/** Entry point of a thread that makes the report of one run and posts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { Failure, type FailureKind } from '../../domain/failure.ts';
import { collectReport } from './collect-report.ts';
import { renderReport } from './write-report.ts';

/** A Failure is sent in parts: structured cloning drops its kind. */
export type ReportAnswer =
  | { readonly html: string; readonly failure: null }
  | { readonly html: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };

async function answer(dir: string): Promise<ReportAnswer> {
  try {
    const data = await collectReport(dir, new AbortController().signal);
    return { html: await renderReport(data), failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { html: null, failure: { kind: error.kind, message: error.message } };
  }
}

parentPort!.postMessage(await answer(workerData as string));
