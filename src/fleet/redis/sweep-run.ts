import { LANES } from '../../domain/item.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { escapeGlob, removeKeysBelow } from '../../queue/redis/remove-keys.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';
import { shardQueue } from './fleet-queues.ts';

/**
 * Removes the jobs of an ended run from Redis: shards that no worker is judging, and results. All else about a run expires.
 * Remove the run from the registry first, so that workers stop adding results; a worker that adds one after that removes
 * the results itself.
 */
export async function sweepRun(link: RedisLink, run: string, signal: AbortSignal): Promise<void> {
  for (const lane of LANES) {
    const before = link.key(`shards-${lane}`, '');
    const pattern = `${escapeGlob(before)}s-${escapeGlob(run)}-*`;
    const keys = await retryWhileTransient(() => link.redis.keys(pattern), signal);
    // Without the lock of a job that a worker has, which expires.
    const ids = keys.map((key) => key.slice(before.length)).filter((id) => !id.includes(':'));
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
