import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { DISK_FULL_RETRY_MS, retryWhileDiskFull } from '../../files/disk-full.ts';
import { PlanWriter } from '../../ingest/plan/plan-file.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { ChainTail } from '../../record/log/chain-tail.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import { claimLog } from '../../sink/verdict-log/claim-log.ts';
import { clearMarker } from '../../runs/control/control-files.ts';
import { FeedClaim } from '../../runs/control/feed-claim.ts';
import type { Continued } from '../../runs/continue-run.ts';
import type { Run } from '../../runs/create-run.ts';
import { planPass } from '../../runs/plan-pass.ts';
import { endOf } from '../../runs/end-of-work.ts';
import { latestPass, summaryIfDone } from '../../runs/next-pass.ts';
import { RunReuse } from '../../runs/reuse/run-reuse.ts';
import { RunProgress, type RunView } from '../../runs/progress.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { FleetFeeder, type PlannedRun } from './fleet-feeder.ts';

interface ContinueOnFleetOptions {
  /** Judge items with a retryable error again, instead of finishing open work. */
  readonly retry: boolean;
  readonly link: RedisLink;
  /** Verdicts of earlier runs, opened and closed by the caller; null if every item is judged. */
  readonly store: VerdictStore | null;
  /** Aborted when the feeder must end; the fleet then judges and commits the fed shards without it. */
  readonly stop: AbortSignal;
  /** Prints one line of text. */
  readonly say: (message: string) => void;
  /** Called once, when feeding begins, with a function that returns the run's progress. */
  readonly watch: (view: () => RunView) => void;
}

/**
 * Continues a run from the state in its directory until it is finished, by feeding a fleet: workers judge, and a sink
 * commits and finishes. A run can switch between a fleet and a single process at any time.
 *
 * Failure `usage` for a retry of a run that is not finished; `superseded` if another process feeds the run;
 * `interrupted` if stopped or cancelled; `service` if the fleet cannot continue.
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
    const epoch = await supersedeCommitter(run, claim, options);
    return { summary: await feedToEnd(run, { claim, epoch }, options), worked: true };
  } catch (error) {
    throw await endOf(error, [stop], () => claim.assertCurrent());
  } finally {
    await claim.release();
  }
}

/**
 * Claims the log and closes it again; returns the claimed epoch, under which the feeder plans. This supersedes a
 * process that judged the run alone at its next commit. It also supersedes a sink, which then claims a new epoch and
 * continues.
 */
async function supersedeCommitter(
  run: Run,
  claim: FeedClaim,
  { stop, say }: ContinueOnFleetOptions,
): Promise<number> {
  await claim.assertCurrent();
  const log = await claimLog(run.dir, run.record, { signal: stop, report: say });
  await log.close();
  return log.epoch;
}

/** The right to feed and to plan a run. */
interface Rights {
  readonly claim: FeedClaim;
  /** The epoch of the plan. */
  readonly epoch: number;
}

/** Feeds the run under supervision, then has the sink finish it. */
async function feedToEnd(run: Run, rights: Rights, options: ContinueOnFleetOptions): Promise<Summary> {
  const failed = new AbortController();
  const signal = AbortSignal.any([options.stop, failed.signal]);
  setMaxListeners(0, signal);
  const tail = await ChainTail.open(run.dir, signal);
  const reuse = new RunReuse(run.record, options.store);
  const feeder = new FleetFeeder({ run, reuse, link: options.link, claim: rights.claim, tail });
  const supervised = feeder.supervise(signal).catch((error: unknown) => failed.abort(error));
  try {
    await feeder.obeyMarkers(signal);
    const planned = await feedDuePasses(run, { ...rights, tail, feeder, reuse, signal }, options);
    const summary = await feeder.finish(planned, () => finishedSummary(run.dir), signal);
    await feeder.deregister(signal);
    return summary;
  } catch (error) {
    if (options.stop.aborted) throw new Failure('interrupted', 'interrupted', { cause: error });
    throw failed.signal.aborted ? failed.signal.reason : error;
  } finally {
    failed.abort(new Failure('interrupted', 'feeding has ended'));
    await supervised;
    await feeder.close();
  }
}

interface Feeding extends Rights {
  readonly tail: ChainTail;
  readonly feeder: FleetFeeder;
  readonly reuse: RunReuse;
  readonly signal: AbortSignal;
}

/**
 * Feeds planned shards that are not committed, plans and feeds the rest, and waits until everything is committed. Returns
 * the complete plan's numbers.
 */
async function feedDuePasses(
  run: Run,
  { claim, epoch, tail, feeder, reuse, signal }: Feeding,
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
    const { pass, items, due } = await latestPass(run, retry, isCommitted, signal);
    const progress = new RunProgress(run.sources);
    watch(() => progress.view(tail.counts(pass), null, feeder.note));
    if (due === null) {
      progress.planned(items ?? 0);
      progress.close();
    } else {
      await planPass({
        ...due,
        record: run.record,
        sources: run.sources,
        plan,
        isCommitted,
        submit: (shard, aborted) => feeder.feed(shard, aborted),
        progress,
        readBefore: reuse.readBefore,
        signal,
      });
      await feeder.drained(signal);
    }
    return { pass, shards: plan.state.shards };
  } finally {
    await plan.close();
  }
}
