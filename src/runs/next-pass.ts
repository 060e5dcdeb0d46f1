import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { readPlan } from '../ingest/plan/plan-file.ts';
import type { PlanClosed, PlanLine } from '../ingest/plan/plan-line.ts';
import { isClosing } from '../ingest/plan/plan-state.ts';
import { PlannedPass } from '../ingest/plan/planned-pass.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Summary } from '../record/summary/summary.ts';
import type { Run } from './create-run.ts';
import { RetrySelection, retryableItems } from './retry-selection.ts';
import { finishedSummary } from '../record/summary/finished-summary.ts';

/**
 * The summary of a run with nothing to do: it is finished or, with `retry`, has no retryable errors. Failure('usage')
 * for a retry of a run that is not finished.
 */
export async function summaryIfDone(run: Run, retry: boolean, signal: AbortSignal): Promise<Summary | null> {
  const finished = await finishedSummary(run.dir);
  if (!retry) return finished;
  if (finished === null) {
    throw new Failure('usage', 'the run is not finished yet: resume it, then retry what ended in an error');
  }
  return (await retryableItems(run.dir, signal)).size === 0 ? finished : null;
}

/** The current pass of a run. */
interface LatestPass {
  readonly pass: number;
  /** Null until it is closed. */
  readonly items: number | null;
  /** The shards left to feed; null if everything is committed. */
  readonly due: DuePass | null;
}

interface DuePass {
  readonly pass: number;
  readonly planned: PlannedPass;
  /** The items of a retry pass; null for the first pass, which has all items. */
  readonly selection: RetrySelection | null;
}

/**
 * The latest pass of a plan, or with `retry` a new one if that is closed. All passes before it are committed: a pass
 * begins only when the run is finished.
 */
export async function latestPass(
  run: Run,
  retry: boolean,
  isCommitted: (shard: number) => boolean,
  signal: AbortSignal,
): Promise<LatestPass> {
  let pass = 1;
  let closed: PlanClosed | null = null;
  let isOpen = false;
  for await (const lines of readPlanOf(run, signal)) {
    for (const line of lines) {
      if (line.pass !== pass) [pass, closed, isOpen] = [line.pass, null, false];
      if (isClosing(line)) closed = line;
      else if (!isCommitted(line.shard)) isOpen = true;
    }
  }
  if (retry && closed !== null) [pass, closed] = [pass + 1, null];
  else if (closed !== null && !isOpen) return { pass, items: closed.items, due: null };
  const planned = await PlannedPass.read(readPlanOf(run, signal), {
    pass,
    sources: run.sources.length,
    isCommitted,
  });
  const selection = await selectItems(run, pass, closed !== null, signal);
  return { pass, items: closed?.items ?? null, due: { pass, planned, selection } };
}

/**
 * Selects the items of a pass. For a closed pass they come from its plan: errors.jsonl may already be that pass's own.
 */
async function selectItems(
  run: Run,
  pass: number,
  isClosed: boolean,
  signal: AbortSignal,
): Promise<RetrySelection | null> {
  if (pass === 1) return null;
  if (!isClosed) return retryableItems(run.dir, signal);
  const seqs: number[] = [];
  for await (const lines of readPlanOf(run, signal)) {
    for (const line of lines) {
      if (line.pass !== pass || isClosing(line)) continue;
      for (const [first, last] of line.seqs) for (let seq = first; seq <= last; seq++) seqs.push(seq);
    }
  }
  return new RetrySelection(seqs);
}

function readPlanOf(run: Run, signal: AbortSignal): AsyncIterable<readonly PlanLine[]> {
  return readPlan(join(run.dir, RUN_FILES.plan), { signal });
}
