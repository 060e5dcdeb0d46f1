import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { readPlan } from '../ingest/plan-file.ts';
import { surveyPlan, type PlanSurvey } from '../ingest/survey-plan.ts';
import { RUN_FILES } from '../sink/run-files.ts';
import type { Summary } from '../sink/summary.ts';
import type { Run } from './create-run.ts';
import { retryableItems } from './retryable-items.ts';
import { finishedSummary } from './run-state.ts';

/**
 * The summary of a run for which there is nothing to do: it is finished, or with `retry`, has nothing worth trying
 * again. Failure('usage') for a retry of a run that is not finished.
 */
export async function summaryIfDone(run: Run, retry: boolean, signal: AbortSignal): Promise<Summary | null> {
  const finished = await finishedSummary(run.dir);
  if (!retry) return finished;
  if (finished === null) {
    throw new Failure('usage', 'the run is not finished yet: resume it, then retry what ended in an error');
  }
  return (await retryableItems(run.dir, signal)).size === 0 ? finished : null;
}

/** What the plan of a run says. */
export function surveyRun(
  run: Run,
  isCommitted: (shard: number) => boolean,
  signal: AbortSignal,
): Promise<PlanSurvey> {
  const lines = readPlan(join(run.dir, RUN_FILES.plan), { signal });
  return surveyPlan(lines, run.sources.length, isCommitted);
}

/** The pass to go on with: the latest, or with `retry` a new one when that is closed. */
export function passToRun(survey: PlanSurvey, retry: boolean): number {
  const begun = Math.max(1, survey.latestPass);
  return retry && survey.closed.has(begun) ? begun + 1 : begun;
}
