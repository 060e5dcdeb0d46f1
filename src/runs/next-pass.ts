import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { readPlan } from '../ingest/plan/plan-file.ts';
import type { PlanLine } from '../ingest/plan/plan-line.ts';
import { isClosing } from '../ingest/plan/plan-state.ts';
import { surveyPlan, type PlanSurvey } from '../ingest/plan/survey-plan.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Summary } from '../record/summary/summary.ts';
import type { Run } from './create-run.ts';
import { RetrySelection, retryableItems } from './retry-selection.ts';
import { finishedSummary } from '../record/summary/finished-summary.ts';

/**
 * The summary of a run for which there is nothing to do: it is finished, or with `retry`, has no retryable errors.
 * Failure('usage') for a retry of a run that is not finished.
 */
export async function summaryIfDone(run: Run, retry: boolean, signal: AbortSignal): Promise<Summary | null> {
  const finished = await finishedSummary(run.dir);
  if (!retry) return finished;
  if (finished === null) {
    throw new Failure('usage', 'the run is not finished yet: resume it, then retry what ended in an error');
  }
  return (await retryableItems(run.dir, signal)).size === 0 ? finished : null;
}

/** A pass with something to feed, and what. */
interface DuePass {
  readonly pass: number;
  /** What the plan says of this pass, and of those before it. */
  readonly survey: PlanSurvey;
  /** The items of a retry pass; null for the first, which has all. */
  readonly selection: RetrySelection | null;
}

/**
 * The passes to work on, in order, each surveyed when it is its turn. The last is the latest pass, or with `retry` a new
 * one if that is closed. Before it come closed passes with shards that were found damaged and are judged again.
 */
export class Passes {
  /** The last of them; the run is finished after it. */
  readonly last: number;
  readonly #run: Run;
  readonly #survey: PlanSurvey;
  readonly #isCommitted: (shard: number) => boolean;

  private constructor(run: Run, survey: PlanSurvey, retry: boolean, isCommitted: (shard: number) => boolean) {
    this.#run = run;
    this.#survey = survey;
    this.#isCommitted = isCommitted;
    const begun = Math.max(1, survey.latestPass);
    this.last = retry && survey.closed.has(begun) ? begun + 1 : begun;
  }

  /** Reads the plan of a run. */
  static async of(
    run: Run,
    retry: boolean,
    isCommitted: (shard: number) => boolean,
    signal: AbortSignal,
  ): Promise<Passes> {
    const survey = await surveyUpTo(run, Number.POSITIVE_INFINITY, isCommitted, signal);
    return new Passes(run, survey, retry, isCommitted);
  }

  /** Items of the last pass; null while it is not closed. */
  get items(): number | null {
    return this.#survey.closed.get(this.last)?.items ?? null;
  }

  async *due(signal: AbortSignal): AsyncGenerator<DuePass, void> {
    const { closed, open, latestPass } = this.#survey;
    for (let pass = 1; pass <= this.last; pass++) {
      if (closed.has(pass) && !open.has(pass)) continue;
      const survey =
        pass < latestPass ? await surveyUpTo(this.#run, pass, this.#isCommitted, signal) : this.#survey;
      yield { pass, survey, selection: await this.#selection(pass, signal) };
    }
  }

  /** For a closed pass this comes from its plan: errors.jsonl may be that pass's own by now. */
  async #selection(pass: number, signal: AbortSignal): Promise<RetrySelection | null> {
    if (pass === 1) return null;
    if (!this.#survey.closed.has(pass)) return retryableItems(this.#run.dir, signal);
    const seqs: number[] = [];
    for await (const lines of planOf(this.#run, signal)) {
      for (const line of lines) {
        if (line.pass !== pass || isClosing(line)) continue;
        for (const [first, last] of line.seqs) for (let seq = first; seq <= last; seq++) seqs.push(seq);
      }
    }
    return new RetrySelection(seqs);
  }
}

function planOf(run: Run, signal: AbortSignal): AsyncIterable<readonly PlanLine[]> {
  return readPlan(join(run.dir, RUN_FILES.plan), { signal });
}

/** What the plan says of the passes up to one. */
function surveyUpTo(
  run: Run,
  pass: number,
  isCommitted: (shard: number) => boolean,
  signal: AbortSignal,
): Promise<PlanSurvey> {
  async function* lines(): AsyncGenerator<readonly PlanLine[], void> {
    for await (const batch of planOf(run, signal)) yield batch.filter((line) => line.pass <= pass);
  }
  return surveyPlan(lines(), run.sources.length, isCommitted);
}
