import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { DISK_FULL_RETRY_MS, retryWhileDiskFull } from '../../files/disk-full.ts';
import { PlanWriter, readPlan } from '../../ingest/plan/plan-file.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { ChainTail } from '../../record/log/chain-tail.ts';
import { claimLog } from '../../sink/verdict-log/claim-log.ts';
import { clearMarker } from '../../runs/control/control-files.ts';
import { FeedClaim } from '../../runs/control/feed-claim.ts';
import type { Continued, RunView } from '../../runs/continue-run.ts';
import type { Run } from '../../runs/create-run.ts';
import { feed } from '../../runs/feed.ts';
import { endOf } from '../../runs/end-of-work.ts';
import { Passes, summaryIfDone } from '../../runs/next-pass.ts';
import { RunProgress } from '../../runs/progress.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { FleetFeeder, type PlannedRun } from './fleet-feeder.ts';

export interface ContinueOnFleetOptions {
  /** Judge again what ended in a retryable error, instead of finishing what is open. */
  readonly retry: boolean;
  readonly link: RedisLink;
  /** Aborted when the feeder is to end; what it handed out goes on without it. */
  readonly stop: AbortSignal;
  /** One line for people. */
  readonly say: (message: string) => void;
  /** Told once how to look at the run, when feeding begins. */
  readonly watch: (view: () => RunView & { readonly note: string | null }) => void;
}

/**
 * Takes a run from wherever its directory says it stands to its end, by feeding a fleet: workers judge, a sink
 * commits and finishes. The same run can be continued in one process afterwards, and the other way round.
 *
 * Failure `usage` for a retry of a run that is not finished; `superseded` when another process feeds the run;
 * `interrupted` when stopped or cancelled; `service` when the fleet cannot go on.
 */
export async function continueOnFleet(run: Run, options: ContinueOnFleetOptions): Promise<Continued> {
  const { stop } = options;
  const done = await summaryIfDone(run, options.retry, stop);
  if (done !== null) return { summary: done, worked: false };
  await clearMarker(run.dir, 'cancelled');
  const { maxWaitMs } = run.record.config;
  const diskFull = { signal: stop, maxWaitMs, retryEveryMs: DISK_FULL_RETRY_MS, report: options.say };
  const take = (): Promise<FeedClaim> => FeedClaim.take(run.dir, { fleet: true });
  const claim = await retryWhileDiskFull('the folder control', take, diskFull);
  try {
    const epoch = await overtake(run, claim, options);
    return { summary: await feedFleet(run, epoch, claim, options), worked: true };
  } catch (error) {
    throw await endOf(error, [stop], () => claim.assertCurrent());
  } finally {
    await claim.release();
  }
}

/**
 * Claims the log in passing, and gives the epoch under which the feeder then plans: a process that judges the run by
 * itself stops at its next commit, and so does a sink, which goes on after that under an epoch of its own.
 */
async function overtake(run: Run, claim: FeedClaim, { stop, say }: ContinueOnFleetOptions): Promise<number> {
  await claim.assertCurrent();
  const log = await claimLog(run.dir, run.record, { signal: stop, report: say });
  await log.close();
  return log.epoch;
}

async function feedFleet(
  run: Run,
  epoch: number,
  claim: FeedClaim,
  options: ContinueOnFleetOptions,
): Promise<Summary> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.stop, failed.signal]);
  setMaxListeners(0, signal);
  const tail = await ChainTail.open(run.dir, signal);
  const feeder = new FleetFeeder({ run, link: options.link, claim, tail, say: options.say });
  const watching = feeder.watch(signal).catch((error: unknown) => failed.abort(error));
  try {
    await feeder.obey(signal);
    const planned = await feedPass(run, epoch, { claim, tail, feeder, signal }, options);
    const summary = await feeder.finish(planned, () => finishedSummary(run.dir), signal);
    await feeder.leave(signal);
    return summary;
  } catch (error) {
    if (options.stop.aborted) throw new Failure('interrupted', 'interrupted', { cause: error });
    throw failed.signal.aborted ? failed.signal.reason : error;
  } finally {
    failed.abort(new Failure('interrupted', 'feeding has ended'));
    await watching;
    await feeder.close();
  }
}

interface Feeding {
  readonly claim: FeedClaim;
  readonly tail: ChainTail;
  readonly feeder: FleetFeeder;
  readonly signal: AbortSignal;
}

/**
 * Feeds what is planned and not committed, plans and feeds the rest, and waits until all of it is committed. Gives
 * what is then planned.
 */
async function feedPass(
  run: Run,
  epoch: number,
  { claim, tail, feeder, signal }: Feeding,
  { retry, say, watch }: ContinueOnFleetOptions,
): Promise<PlannedRun> {
  const planPath = join(run.dir, RUN_FILES.plan);
  const isCommitted = (shard: number): boolean => tail.isCommitted(shard);
  const { maxWaitMs } = run.record.config;
  const plan = await PlanWriter.open(planPath, {
    epoch,
    diskFull: { signal, maxWaitMs, retryEveryMs: DISK_FULL_RETRY_MS, report: say },
    assertCurrent: () => claim.assertCurrent(),
  });
  try {
    const passes = await Passes.of(run, retry, isCommitted, signal);
    let progress = new RunProgress(run.sources);
    let pass = passes.last;
    watch(() => ({ ...viewOf(progress, tail, pass), note: feeder.note }));
    if (passes.items !== null) {
      progress.planned(passes.items);
      progress.close();
    }
    for await (const due of passes.due(signal)) {
      progress = new RunProgress(run.sources);
      ({ pass } = due);
      await feed({
        ...due,
        record: run.record,
        sources: run.sources,
        planned: () => readPlan(planPath, { signal }),
        plan,
        isCommitted,
        queue: feeder.shards,
        progress,
        signal,
      });
      await feeder.shards.drained(signal);
    }
    return { pass: passes.last, shards: plan.state.shards };
  } finally {
    await plan.close();
  }
}

function viewOf(progress: RunProgress, tail: ChainTail, pass: number): RunView {
  const { items, closed, readShare } = progress.snapshot();
  const { items: done, errors } = tail.counts(pass);
  return { planned: items, planClosed: closed, judged: done - errors, errors, readShare };
}
