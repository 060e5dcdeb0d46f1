import { Failure } from '../../domain/failure.ts';
import type { Continued } from '../../runs/continue-run.ts';
import type { Run } from '../../runs/create-run.ts';
import type { FeedUi } from '../context.ts';
import { report, tell } from '../run/run-report.ts';
import { verifyRun } from '../../record/verify/verify.ts';
import { handOver } from './hand-over.ts';

/** The last part of every command that brings a run to its end: prints what became of it, and hands over its head. */
export async function conclude(
  run: Run,
  { summary, worked }: Continued,
  { retry, notes }: { readonly retry: boolean; readonly notes: readonly string[] },
  ui: FeedUi,
): Promise<number> {
  if (!worked) {
    tell(ui, retry ? 'nothing to retry: no item ended in a retryable error' : 'this run is finished');
  }
  const exitStatus = report(run, summary, ui, notes);
  if (!worked) await assertRecordHolds(run, ui);
  await handOver(run, summary, exitStatus, ui);
  return exitStatus;
}

/**
 * Failure('internal') when a run that was finished before this command is to be vouched for, and its record does not hold:
 * what is noted elsewhere must not be what somebody else made of it since.
 */
async function assertRecordHolds(run: Run, { afterFinish, interrupts }: FeedUi): Promise<void> {
  if (afterFinish.headFile === null && afterFinish.onFinish.length === 0) return;
  const report = await verifyRun(run.dir, { signal: interrupts.drain });
  if (report.ok) return;
  throw new Failure(
    'internal',
    `the head of the run is not noted, because its record does not hold: ${report.problem}`,
  );
}
