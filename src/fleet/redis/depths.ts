import { LANES, type Lane } from '../../domain/item.ts';
import { FleetRuns } from './fleet-runs.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import type { QueueDepth } from '../../queue/redis/redis-queue.ts';

/** Maximum active jobs of a lane that are listed. */
const MAX_ACTIVE = 2000;

interface NamedDepth extends QueueDepth {
  /** `text`, `chat`, … for shards of a lane; `results` for the results of all runs. */
  readonly queue: string;
}

/**
 * The depths of the fleet's queues. Reads the lengths of BullMQ's own lists, because creating a queue object also writes
 * the queue's settings.
 */
export async function readDepths(link: RedisLink, signal: AbortSignal): Promise<NamedDepth[]> {
  const runs = await new FleetRuns(link).list(signal);
  const queues = [...LANES.map((lane) => `shards-${lane}`), ...runs.map(({ run }) => `results-${run}`)];
  // A single retry loop for all queues, because each loop adds a listener to the signal.
  const ask = (): Promise<QueueDepth[]> => Promise.all(queues.map((queue) => depthOf(link, queue)));
  const depths = await retryWhileTransient(ask, signal);
  const lanes = LANES.map((lane, at) => ({ queue: lane, ...depths[at]! }));
  const results = depths.slice(LANES.length);
  const sum = (state: keyof QueueDepth): number => results.reduce((total, depth) => total + depth[state], 0);
  return [
    ...lanes,
    { queue: 'results', waiting: sum('waiting'), active: sum('active'), delayed: sum('delayed') },
  ];
}

/** Ids of a lane's shards that workers are processing. */
export function activeShards(link: RedisLink, lane: Lane, signal: AbortSignal): Promise<string[]> {
  const key = link.key(`shards-${lane}`, 'active');
  return retryWhileTransient(() => link.redis.lrange(key, 0, MAX_ACTIVE - 1), signal);
}

async function depthOf(link: RedisLink, queue: string): Promise<QueueDepth> {
  const { redis } = link;
  const [untimed, inTurn, active, delayed] = await Promise.all([
    redis.llen(link.key(queue, 'wait')),
    redis.zcard(link.key(queue, 'prioritized')),
    redis.llen(link.key(queue, 'active')),
    redis.zcard(link.key(queue, 'delayed')),
  ]);
  return { waiting: untimed + inTurn, active, delayed };
}
