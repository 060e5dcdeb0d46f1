import { LANES } from '../../domain/item.ts';
import { FleetRuns } from './fleet-runs.ts';
import type { RedisLink } from './link.ts';
import { patiently } from './patience.ts';
import type { QueueDepth } from './redis-queue.ts';

export interface NamedDepth extends QueueDepth {
  /** `text`, `chat`, … for shards of a lane; `results` for those of all runs. */
  readonly queue: string;
}

/**
 * How much waits in the fleet's queues. Asks for the lengths of BullMQ's own lists, because making a queue only to
 * look at it would also write its settings.
 */
export async function readDepths(link: RedisLink, signal: AbortSignal): Promise<NamedDepth[]> {
  const runs = await new FleetRuns(link).list(signal);
  const lanes = await Promise.all(
    LANES.map(async (lane) => ({ queue: lane, ...(await depthOf(link, `shards-${lane}`, signal)) })),
  );
  const results = await Promise.all(runs.map(({ run }) => depthOf(link, `results-${run}`, signal)));
  const sum = (state: keyof QueueDepth): number => results.reduce((total, depth) => total + depth[state], 0);
  return [
    ...lanes,
    { queue: 'results', waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed') },
  ];
}

async function depthOf(link: RedisLink, queue: string, signal: AbortSignal): Promise<QueueDepth> {
  const { redis } = link;
  const [waiting, active, delayed] = await patiently(
    () =>
      Promise.all([
        redis.llen(link.key(queue, 'wait')),
        redis.llen(link.key(queue, 'active')),
        redis.zcard(link.key(queue, 'delayed')),
      ]),
    signal,
  );
  return { waiting, active, delayed };
}
