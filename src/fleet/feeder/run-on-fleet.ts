import type { KeyObject } from 'node:crypto';
import type { RunConfig } from '../../config/run-config.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { RedisLink } from '../../queue/redis/link.ts';
import { FleetSeal } from '../../queue/redis/sealing/fleet-seal.ts';
import type { Run } from '../../runs/create-run.ts';
import { openTrustedRun, prepareRun, type ResumeOptions, type RunOptions } from '../../runs/prepare-run.ts';
import { openStoreFor, openStoreOf, type OpenStoreOptions } from '../../runs/reuse/open-store.ts';
import { resultOf, type RunResult } from '../../runs/run-end.ts';
import type { RunView } from '../../runs/progress.ts';
import type { VerdictStore } from '../../store/verdict-store.ts';
import { waitForWorkerWith } from '../redis/worker-models.ts';
import { continueOnFleet } from './continue-on-fleet.ts';

interface FleetRunOptions extends RunOptions {
  readonly redis: RedisAddress;
  /** The fleet key; if null, jobs and results are not sealed. */
  readonly key: KeyObject | null;
  /** Timeout for connecting to Redis, in milliseconds. */
  readonly startWaitMs: number;
}

/**
 * Connects to Redis, creates a run, and feeds it to a fleet until it is finished. Rejects with a Failure: `usage` for
 * unusable sources, `service` if Redis does not answer or no worker has a guard that the run names, otherwise as in
 * `continueOnFleet`.
 */
export async function startRunOnFleet(config: RunConfig, options: FleetRunOptions): Promise<RunResult> {
  const create = await prepareRun(config, options);
  const openStore: OpenStore = (of) => openStoreFor(config, of);
  const { workerGuards = null } = config;
  return feedRun(create, { retry: false, openStore, workerGuards }, options);
}

/**
 * Continues a run on a fleet, from the state in its directory until it is finished. Rejects with a Failure: `usage` for
 * a directory that is not a run or not trusted, `service` if Redis does not answer, otherwise as in `continueOnFleet`.
 */
export async function resumeRunOnFleet(
  dir: string,
  options: FleetRunOptions & ResumeOptions,
): Promise<RunResult> {
  const run = await openTrustedRun(dir, options);
  const openStore: OpenStore = (of) => openStoreOf(run, of);
  return feedRun(async () => run, { retry: options.retry, openStore, workerGuards: null }, options);
}

type OpenStore = (options: OpenStoreOptions) => Promise<VerdictStore | null>;

interface Feed {
  readonly retry: boolean;
  readonly openStore: OpenStore;
  /** Guards of which a worker must have at least one before the run is created; null if none is needed yet. */
  readonly workerGuards: readonly string[] | null;
}

/** Workers and the sink finish fed shards without this process, so `drain` and `stop` both end it at once. */
async function feedRun(
  open: () => Promise<Run>,
  { retry, openStore, workerGuards }: Feed,
  { redis, key, keyFile, startWaitMs, drain, stop, report }: FleetRunOptions,
): Promise<RunResult> {
  report({ kind: 'fleet', redis });
  const say = (line: string): void => report({ kind: 'notice', line });
  const ending = AbortSignal.any([drain, stop]);
  const link = await RedisLink.open(redis, {
    say,
    signal: ending,
    startTimeoutMs: startWaitMs,
    seal: key && new FleetSeal(key),
  });
  try {
    if (workerGuards !== null) await waitForWorkerWith(workerGuards, link, startWaitMs, ending);
    const store = await openStore({ keyFile, say, signal: ending });
    try {
      const run = await open();
      report({ kind: 'begun', run });
      const watch = (view: () => RunView): void => report({ kind: 'judging', view });
      return resultOf(run, await continueOnFleet(run, { retry, link, store, stop: ending, say, watch }));
    } finally {
      await store?.close();
    }
  } finally {
    link.close();
  }
}
