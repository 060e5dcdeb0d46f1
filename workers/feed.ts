import type { KeyObject } from 'node:crypto';
import type { RedisAddress } from '../src/config/values/redis-url.ts';
import { RedisLink } from '../src/queue/redis/link.ts';
import { FleetSeal } from '../src/queue/redis/sealing/fleet-seal.ts';
import type { Continued } from '../src/runs/continue-run.ts';
import type { Run } from '../src/runs/create-run.ts';
import { continueOnFleet, type ContinueOnFleetOptions } from '../src/fleet/feeder/continue-on-fleet.ts';
import type { Service } from './service.ts';

export interface FeederOptions extends Pick<ContinueOnFleetOptions, 'retry' | 'say' | 'watch'> {
  readonly redis: RedisAddress;
  /** The fleet key; null: jobs and results are not sealed. */
  readonly key: KeyObject | null;
  /** How long Redis may take to answer at the start, in milliseconds. */
  readonly startWaitMs: number;
  /** Creates or opens the run to feed; called once Redis has answered. */
  readonly run: () => Promise<Run>;
}

/**
 * The feeder of one run: reads, plans and feeds until the run is finished. What it has fed is judged and committed
 * without it, so there is nothing to drain.
 */
export const feeder: Service<FeederOptions, Continued> = async (options, { drain, stop }) => {
  const { say, retry, watch } = options;
  const ending = AbortSignal.any([drain, stop]);
  const link = await RedisLink.open(options.redis, {
    say,
    signal: ending,
    startTimeoutMs: options.startWaitMs,
    seal: options.key && new FleetSeal(options.key),
  });
  try {
    return await continueOnFleet(await options.run(), { retry, link, stop: ending, say, watch });
  } finally {
    link.close();
  }
};
