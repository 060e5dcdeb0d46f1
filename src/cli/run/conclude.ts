import { Failure } from '../../domain/failure.ts';
import { notJudgedInBrief } from '../../domain/words/not-judged.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { ReviewProgress } from '../../record/reviews/review.ts';
import { gateText } from '../../record/summary/gates.ts';
import { summaryLines } from '../../record/summary/summary-text.ts';
import { handOver } from '../../runs/finish/hand-over.ts';
import { EXIT_STATUS, type RunResult } from '../../runs/run-end.ts';
import type { FeedUi } from '../context.ts';
import { exportCleanRows } from './export-clean-rows.ts';
import { AFTER_FIRST_RUN, nextCommands, openNext } from './next-steps.ts';
import { resumeCommand } from './resume-command.ts';
import { tell } from './run-report.ts';

/**
 * Writes the clean rows of a finished run, if requested; returns the exit status of the export. If it fails, returns
 * the failure, so the head is still handed over.
 */
async function exportWhenFinished({ run, summary }: RunResult, ui: FeedUi): Promise<number | Failure> {
  const { exportClean } = ui.afterFinish;
  if (exportClean === null || summary.status !== 'finished') return 0;
  try {
    return await exportCleanRows(run.dir, exportClean, ui);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return new Failure(
      error.kind,
      `the run is finished, but its clean rows are not written: ${error.message}`,
    );
  }
}

/**
 * Writes the report of a finished run, unless disabled, and prints its path. Returns the run's review progress; null if
 * no report was written.
 */
async function writeReport({ run, summary, worked }: RunResult, ui: FeedUi): Promise<ReviewProgress | null> {
  if (!ui.afterFinish.report || summary.status !== 'finished') return null;
  const { reportWhenFinished } = await import('../../report/html/write-report.ts');
  const notice = await reportWhenFinished(run.dir, { worked }, ui.interrupts.drain);
  if (notice !== null) tell(ui, notice.line);
  return notice?.reviews ?? null;
}

/** Describes the review progress of what the run flagged; null if there are no decisions and no previous run. */
async function describeReviews(
  { run, summary }: RunResult,
  ofReport: ReviewProgress | null,
  ui: FeedUi,
): Promise<string | null> {
  const { status, flagged } = summary;
  if (status !== 'finished' || flagged === 0) return null;
  const { countReviews, progressText } = await import('../../analysis/reviewed-items.ts');
  try {
    return progressText(ofReport ?? (await countReviews(run, ui.interrupts.drain)), flagged);
  } catch (error) {
    const why = error instanceof Failure ? error.message : 'an unexpected error';
    return `Reviews: not counted: ${why}`;
  }
}

interface Ended {
  readonly retry: boolean;
  /** Whether the folder had no earlier run. */
  readonly isFirst: boolean;
}

/**
 * Writes the report of a completed run, prints its summary, then exports its clean rows and hands over its head;
 * returns the exit status. Failure('service') if the head could not be noted; also rejects with the failure of a
 * requested export.
 */
export async function conclude(result: RunResult, { retry, isFirst }: Ended, ui: FeedUi): Promise<number> {
  const { run, summary, worked } = result;
  if (!worked) {
    tell(ui, retry ? 'nothing to retry: no item ended in a retryable error' : 'this run is finished');
  }
  const ofTrial = summary.trial === null ? '' : ', of this trial only';
  for (const gate of summary.gates) {
    const fields = { level: 'warn', event: 'gate_tripped', run: summary.run } as const;
    if (gate.tripped) ui.stderr.say(`gate ${gateText(gate)}${ofTrial}`, fields);
  }
  const ofReport = await writeReport(result, ui);
  if (ui.json) ui.stdout.json(summary);
  else {
    const unjudged = notJudgedInBrief(summary);
    const listed =
      RUN_FILES.notJudged in summary.rows ? `: ${RUN_FILES.notJudged} says why, and what would help` : '';
    const brief = unjudged === null ? [] : [unjudged + listed];
    const last = [...brief, openNext(summary, run.dir, ui), run.dir];
    const reviews = await describeReviews(result, ofReport, ui);
    ui.stdout.lines(summaryLines(summary, { reviews, commands: nextCommands(result, ui), last }));
  }
  if (isFirst && ui.stderr.isTerminal && !ui.quiet && !ui.json) ui.stderr.line(AFTER_FIRST_RUN);
  const exported = await exportWhenFinished(result, ui);
  let problem: string | null = null;
  try {
    await handOver(result, { afterFinish: ui.afterFinish, signal: ui.interrupts.drain });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'service') throw error;
    problem = error.message;
  }
  if (exported instanceof Failure) throw exported;
  if (problem === null) return result.end === 'complete' ? exported : EXIT_STATUS[result.end];
  throw new Failure(
    'service',
    `the run is finished, but ${problem}; to try again, give the same flags to: ${resumeCommand(run.dir, ui)}`,
  );
}
