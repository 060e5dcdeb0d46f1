import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { readPlan } from '../ingest/plan-file.ts';
import { surveyPlan, type PlanSurvey } from '../ingest/survey-plan.ts';
import { RUN_FILES } from '../sink/run-files.ts';
import { type Summary } from '../sink/summary.ts';
import { type Run } from './create-run.ts';
import { finishedSummary } from './finished-summary.ts';
import { type RetrySelection } from './retry-selection.ts';
import { retryableItems } from './retryable-items.ts';

/** A pass over a run that is to be begun, or gone on with. */
export interface NextPass {
  readonly pass: number;
  /** What it judges; null for the first pass, which judges everything. */
  readonly selection: RetrySelection | null;
}

/** What there is to do for a run: a pass, or nothing, because it is finished. */
export type Standing =
  | { readonly next: NextPass; readonly finished: Summary | null }
  | { readonly next: null; readonly finished: Summary };

/**
 * What there is to do for a run: its open pass, or with `retry` a new one over what ended in a retryable error.
 * Failure('usage') for a retry of a run that is not finished.
 */
export async function findNextPass(run: Run, retry: boolean, signal: AbortSignal): Promise<Standing> {
  const survey = await surveyRun(run, () => true, signal);
  const finished = await finishedSummary(run.dir, survey);
  if (finished === null) {
    if (retry) {
      throw new Failure('usage', 'the run is not finished yet: resume it, then retry what ended in an error');
    }
    const pass = Math.max(1, survey.latestPass);
    return { finished, next: { pass, selection: pass === 1 ? null : await retryableItems(run.dir, signal) } };
  }
  if (!retry) return { finished, next: null };
  const selection = await retryableItems(run.dir, signal);
  if (selection.size === 0) return { finished, next: null };
  return { finished, next: { pass: survey.latestPass + 1, selection } };
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
