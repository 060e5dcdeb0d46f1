import type { KeyObject } from 'node:crypto';
import type { RunConfig } from '../../config/run-config.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { RedisLink } from '../../queue/redis/link.ts';
import { FleetSeal } from '../../queue/redis/sealing/fleet-seal.ts';
import type { Run } from '../../runs/create-run.ts';
import { openTrustedRun, prepareRun, type ResumeOptions, type RunOptions } from '../../runs/prepare-run.ts';
import { resultOf, type RunResult } from '../../runs/run-end.ts';
import type { NotedView } from '../../runs/run-events.ts';
import { continueOnFleet } from './continue-on-fleet.ts';

interface FleetRunOptions extends RunOptions {
  readonly redis: RedisAddress;
  /** The fleet key; null: jobs and results are not sealed. */
  readonly key: KeyObject | null;
  /** Timeout for connecting to Redis, in milliseconds. */
  readonly startWaitMs: number;
}

/**
 * Connects to Redis, creates a run, and feeds it to a fleet until it is finished. Rejects with a Failure: `usage`
 * for unusable sources, `service` when Redis does not answer, otherwise as `continueOnFleet`.
 */
export async function startRunOnFleet(config: RunConfig, options: FleetRunOptions): Promise<RunResult> {
  return feedRun(await prepareRun(config, options), false, options);
}

/**
 * Continues a run on a fleet, from the state in its directory until it is finished. Rejects with a Failure: `usage` for a
 * directory that is not a run or not trusted, `service` when Redis does not answer, otherwise as `continueOnFleet`.
 */
export async function resumeRunOnFleet(
  dir: string,
  options: FleetRunOptions & ResumeOptions,
): Promise<RunResult> {
  const run = await openTrustedRun(dir, options);
  return feedRun(async () => run, options.retry, options);
}

/** Workers and the sink finish fed shards without this process, so `drain` and `stop` both end it at once. */
async function feedRun(
  open: () => Promise<Run>,
  retry: boolean,
  { redis, key, startWaitMs, drain, stop, report }: FleetRunOptions,
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
    const run = await open();
    report({ kind: 'begun', run });
    const watch = (view: () => NotedView): void => report({ kind: 'judging', view });
    return resultOf(run, await continueOnFleet(run, { retry, link, stop: ending, say, watch }));
  } finally {
    link.close();
  }
}
