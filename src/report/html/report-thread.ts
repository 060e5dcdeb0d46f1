/** Entry point of a thread that makes the report of one run and posts it. */
import { parentPort, workerData } from 'node:worker_threads';
import { Failure, type FailureKind } from '../../domain/failure.ts';
import { collectReport } from './collect-report.ts';
import { compareWith } from './compare-previous.ts';
import { renderReport } from './write-report.ts';

/** Failures are sent in parts: structured cloning drops their kind. */
export type ReportAnswer =
  | { readonly html: string; readonly failure: null }
  | { readonly html: null; readonly failure: { readonly kind: FailureKind; readonly message: string } };

export interface ReportTask {
  readonly dir: string;
  /** Directory of the run to compare with; null for the previous run, if there is one. */
  readonly before: string | null;
}

async function answer({ dir, before }: ReportTask): Promise<ReportAnswer> {
  try {
    const { signal } = new AbortController();
    const data = await collectReport(dir, signal);
    const previous = before === null ? data.previous : await compareWith(before, dir, signal);
    return { html: await renderReport({ ...data, previous }), failure: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { html: null, failure: { kind: error.kind, message: error.message } };
  }
}

parentPort!.postMessage(await answer(workerData as ReportTask));
