import { LANES } from '../../domain/item.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { escapeGlob, removeKeysBelow } from '../../queue/redis/remove-keys.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { shardQueue } from './fleet-queues.ts';

/** Pass, shard and epoch at the end of a shard's job id. */
const SHARD_NUMBERS = /^-\d+-\d+-\d+$/;

/**
 * Removes the jobs of an ended run from Redis: results, and shards that no worker is judging. All other data about a
 * run expires. Remove the run from the registry first, so workers stop adding results; a worker that adds one after
 * that removes the results itself.
 */
export async function sweepRun(link: RedisLink, run: string, signal: AbortSignal): Promise<void> {
  for (const lane of LANES) {
    const queued = link.key(`shards-${lane}`, '');
    const pattern = `${escapeGlob(queued)}s-${escapeGlob(run)}-*`;
    const keys = await retryWhileTransient(() => link.redis.keys(pattern), signal);
    // Only shards of this run: excludes locks of jobs, which expire, and runs whose names begin like this one's.
    const ids = keys
      .map((key) => key.slice(queued.length))
      .filter((id) => SHARD_NUMBERS.test(id.slice(`s-${run}`.length)));
    if (ids.length === 0) continue;
    const queue = shardQueue(link, lane);
    try {
      for (const id of ids) await queue.remove(id, signal);
    } finally {
      await queue.close();
    }
  }
  await removeKeysBelow(link, [`results-${run}`], signal);
}
