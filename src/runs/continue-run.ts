import type { KeyObject } from 'node:crypto';
import { join } from 'node:path';
import { DISK_FULL_RETRY_MS, retryWhileDiskFull } from '../files/disk-full.ts';
import { PlanWriter } from '../ingest/plan/plan-file.ts';
import type { Judge } from '../moderate/parts/judge-parts.ts';
import { finishRun } from '../sink/final-files/finish.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Summary } from '../record/summary/summary.ts';
import type { VerdictStore } from '../store/verdict-store.ts';
import { claimLog } from '../sink/verdict-log/claim-log.ts';
import { clearMarker, hasMarker } from './control/control-files.ts';
import { FeedClaim } from './control/feed-claim.ts';
import { RunControl } from './control/run-control.ts';
import type { Run } from './create-run.ts';
import { endOf } from './end-of-work.ts';
import { LiveView } from './live-view.ts';
import { latestPass, summaryIfDone } from './next-pass.ts';
import { BracketedReuse, type ReadModels } from './reuse/bracketed-reuse.ts';
import { RunReuse } from './reuse/run-reuse.ts';
import { RunProgress, StageCounts, type RunView } from './progress.ts';
import { runPass } from './run-pass.ts';

/** The guards of a run. */
export interface RunGuards extends Judge {
  /** See `ReadModels`. */
  readonly readModels: ReadModels;
}

export interface ContinueOptions {
  /** Judge items with a retryable error again, instead of finishing open work. */
  readonly retry: boolean;
  /** Connects to the guards; called if there is something to judge. The caller closes the connection. */
  readonly connect: () => Promise<RunGuards>;
  /** Verdicts of earlier runs, opened and closed by the caller. By default there are none, and every item is judged. */
  readonly store?: VerdictStore | null;
  /** Ed25519 private key to sign the manifest with; unsigned by default. */
  readonly signingKey?: KeyObject | null;
  readonly drain: AbortSignal;
  readonly stop: AbortSignal;
  /** Takes one line of text. */
  readonly say: (message: string) => void;
  /** Called once, when judging begins, with a function that returns the run's current progress. */
  readonly watch: (view: () => RunView) => void;
}

export interface Continued {
  readonly summary: Summary;
  /** False when there was nothing to do. */
  readonly worked: boolean;
}

/**
 * Continues a run from the state in its directory until it is finished: claims the verdict log, feeds planned shards
 * that are not committed, plans and judges the rest, writes the final files. New runs, interrupted runs and retry
 * passes all use this path.
 *
 * Failure `usage` for a retry of a run that is not finished; `superseded` when another process takes over;
 * `interrupted` when drained or stopped; `service` when no guard is available.
 */
export async function continueRun(run: Run, options: ContinueOptions): Promise<Continued> {
  const { stop } = options;
  const done = await summaryIfDone(run, options.retry, stop);
  if (done !== null) return { summary: done, worked: false };
  // A claim makes a finished run unfinished, so a retry connects to a guard first.
  const connected = options.retry ? await options.connect() : null;

  await clearMarker(run.dir, 'cancelled');
  // Stops a fleet's feeder first; claiming the log then stops its sink from committing.
  const { maxWaitMs } = run.record.config;
  const diskFull = { signal: stop, maxWaitMs, retryEveryMs: DISK_FULL_RETRY_MS, report: options.say };
  const take = (): Promise<FeedClaim> => FeedClaim.take(run.dir, { fleet: false });
  const feeding = await retryWhileDiskFull('the folder control', take, diskFull);
  try {
    return { summary: await judgeToEnd(run, connected, options), worked: true };
  } catch (error) {
    throw await endOf(error, [options.stop, options.drain], () => feeding.assertCurrent());
  } finally {
    await feeding.release();
  }
}

async function judgeToEnd(run: Run, connected: RunGuards | null, options: ContinueOptions): Promise<Summary> {
  const { stop } = options;
  const planPath = join(run.dir, RUN_FILES.plan);
  const reuse = new RunReuse(run.record, options.store ?? null);
  const live = new LiveView(options.say);
  const log = await claimLog(run.dir, run.record, { signal: stop, report: live.report });
  try {
    const plan = await PlanWriter.open(planPath, {
      epoch: log.epoch,
      diskFull: log.diskFull,
      assertCurrent: () => log.assertCurrent(),
    });
    try {
      const { due } = await latestPass(run, options.retry, (shard) => log.isCommitted(shard), stop);
      if (due !== null) {
        const progress = new RunProgress(run.sources);
        const stages = new StageCounts();
        live.begin({ progress, stages, counts: () => log.counts(due.pass) });
        options.watch(live.read);
        const guards = connected ?? (await options.connect());
        const control = await RunControl.open(run.dir, options.say);
        live.controlledBy(control);
        try {
          await runPass({
            ...due,
            record: run.record,
            sources: run.sources,
            plan,
            progress,
            stages,
            readBefore: reuse.readBefore,
            log,
            judge: guards,
            reuse: new BracketedReuse(reuse, (signal) => guards.readModels(signal)),
            committed: (result) => reuse.keep(result),
            drain: AbortSignal.any([options.drain, control.cancelled]),
            whenRunning: (signal) => control.whenRunning(signal),
            stop,
          });
        } finally {
          live.controlledBy(null);
          control.close();
        }
      } else if (await hasMarker(run.dir, 'unchecked')) {
        // Guards that failed the last canaries, or may have, must pass them before the run is finished.
        const guards = connected ?? (await options.connect());
        await log.commitChecks(guards.canaries ?? []);
        await clearMarker(run.dir, 'unchecked');
      }
    } finally {
      await plan.close();
    }
    live.finishing();
    return await finishRun(log, stop, { signingKey: options.signingKey ?? null });
  } finally {
    await log.close();
  }
}
