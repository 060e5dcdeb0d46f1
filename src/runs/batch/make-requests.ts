import type { RunConfig } from '../../config/run-config.ts';
import { toolVersion } from '../../config/tool-version.ts';
import type { ItemCode } from '../../domain/item-error.ts';
import { listErrors } from '../../domain/shard.ts';
import { surveyPlan } from '../../ingest/plan/survey-plan.ts';
import { expandSources } from '../../ingest/discover/expand.ts';
import { inspectSources } from '../../ingest/recognise/inspect.ts';
import type { Judge } from '../../moderate/judge.ts';
import { RunProgress, StageCounts } from '../progress.ts';
import { BracketedReuse } from '../reuse/bracketed-reuse.ts';
import { RunReuse } from '../reuse/run-reuse.ts';
import { runPass } from '../run-pass.ts';

/** The items of a corpus, and what the guard will not be asked about, by the code of its error. */
export interface RequestedItems {
  readonly items: number;
  readonly byError: Readonly<Partial<Record<ItemCode, number>>>;
}

interface MakeRequestsOptions {
  readonly drain: AbortSignal;
  readonly stop: AbortSignal;
}

/**
 * Reads the sources of a run and has `judge` asked about each item as in the run, but writes no run directory. Rejects as
 * `prepareRun` and `runPass` do.
 */
export async function makeRequests(
  config: RunConfig,
  judge: Judge,
  { drain, stop }: MakeRequestsOptions,
): Promise<RequestedItems> {
  const { sources, skipped } = await expandSources(config.sources, drain);
  await inspectSources(sources, config.sources, config.limits.itemBytes, drain);
  const record = {
    ...({
      schema: 1,
      run: 'batch',
      created_at: '',
      skipped,
      fitted_headers: [],
      sources_sha256: '',
    } as const),
    tool: { name: 'guardsweep', version: toolVersion() } as const,
    skipped_sha256: '',
    config,
  };
  let items = 0;
  const byError: Partial<Record<ItemCode, number>> = {};
  const nothing = async (): Promise<void> => {};
  await runPass({
    ...{ record, sources, judge, drain, stop, pass: 1, selection: null },
    survey: await surveyPlan(noPlan(), sources.length, () => false),
    planned: noPlan,
    plan: { append: nothing, change: nothing },
    log: { epoch: 1, isCommitted: () => false, commit: nothing },
    reuse: new BracketedReuse(new RunReuse(record, null), async () => []),
    progress: new RunProgress(sources),
    stages: new StageCounts(),
    committed: async (result) => {
      const errors = listErrors(result);
      items += errors.length;
      for (const error of errors) if (error !== null) byError[error.code] = (byError[error.code] ?? 0) + 1;
    },
    whenRunning: nothing,
  });
  return { items, byError };
}

async function* noPlan(): AsyncGenerator<never, void> {}
