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
  readonly planned: PlannedPass;
  /** The items of a retry pass; null for the first, which has all. */
  readonly selection: RetrySelection | null;
}

/**
 * The passes to work on, in order. The last is the latest pass, or with `retry` a new one if that is closed. Before it
 * come closed passes with shards that were found damaged and are judged again.
 */
export class Passes {
  /** The run is finished after this pass. */
  readonly last: number;
  readonly #run: Run;
  readonly #isCommitted: (shard: number) => boolean;
  readonly #closed: ReadonlyMap<number, PlanClosed>;
  /** Passes with a planned shard that is not committed. */
  readonly #open: ReadonlySet<number>;

  private constructor(
    run: Run,
    isCommitted: (shard: number) => boolean,
    plan: { readonly last: number; readonly closed: Map<number, PlanClosed>; readonly open: Set<number> },
  ) {
    this.#run = run;
    this.#isCommitted = isCommitted;
    this.last = plan.last;
    this.#closed = plan.closed;
    this.#open = plan.open;
  }

  /** Reads the plan of a run. */
  static async of(
    run: Run,
    retry: boolean,
    isCommitted: (shard: number) => boolean,
    signal: AbortSignal,
  ): Promise<Passes> {
    const closed = new Map<number, PlanClosed>();
    const open = new Set<number>();
    let latest = 1;
    for await (const lines of planOf(run, signal)) {
      for (const line of lines) {
        latest = line.pass;
        if (isClosing(line)) closed.set(line.pass, line);
        else if (!isCommitted(line.shard)) open.add(line.pass);
      }
    }
    const last = retry && closed.has(latest) ? latest + 1 : latest;
    return new Passes(run, isCommitted, { last, closed, open });
  }

  /** Items of the last pass; null while it is not closed. */
  get items(): number | null {
    return this.#closed.get(this.last)?.items ?? null;
  }

  async *due(signal: AbortSignal): AsyncGenerator<DuePass, void> {
    for (let pass = 1; pass <= this.last; pass++) {
      if (this.#closed.has(pass) && !this.#open.has(pass)) continue;
      const planned = await PlannedPass.read(planOf(this.#run, signal), {
        pass,
        sources: this.#run.sources.length,
        isCommitted: this.#isCommitted,
      });
      yield { pass, planned, selection: await this.#selection(pass, signal) };
    }
  }

  /** For a closed pass this comes from its plan: errors.jsonl may already be that pass's own. */
  async #selection(pass: number, signal: AbortSignal): Promise<RetrySelection | null> {
    if (pass === 1) return null;
    if (!this.#closed.has(pass)) return retryableItems(this.#run.dir, signal);
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
