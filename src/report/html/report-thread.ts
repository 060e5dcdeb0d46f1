/** Entry point of a thread that makes the report of one run and posts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { Failure, type FailureKind } from '../../domain/failure.ts';
import { collectReport } from './collect-report.ts';
import { renderReport } from './render-report.ts';

/** A report as HTML. */
export interface MadeReport {
  readonly html: string;
  /** Whether the run was finished. */
  readonly finished: boolean;
}

/** A Failure is sent in parts: structured cloning drops its kind. */
export type ReportAnswer =
  | { readonly made: MadeReport; readonly failure: null }
  | { readonly made: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };

async function answer(dir: string): Promise<ReportAnswer> {
  try {
    const data = await collectReport(dir, { signal: new AbortController().signal });
    const html = await renderReport(data, { share: false });
    return { made: { html, finished: data.finishedAt !== null }, failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { made: null, failure: { kind: error.kind, message: error.message } };
  }
}

parentPort!.postMessage(await answer(workerData as string));
