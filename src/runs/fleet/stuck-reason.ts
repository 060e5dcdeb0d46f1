import { z } from 'zod';
import { leaseHolder } from '../../queue/redis/lease.ts';
import { type RedisLink } from '../../queue/redis/link.ts';
import { listPresent } from '../../queue/redis/presence.ts';

/** What a worker says of itself, as far as it tells why work stands still. */
const WORKER = z.looseObject({ guards: z.array(z.looseObject({ state: z.string() })) });

/** Name of the lease that the sink of a run holds. */
export function sinkLease(run: string): string {
  return `sink-${run}`;
}

/** What a run lacks to go on, in a few words; null when nothing does. */
export async function stuckReason(link: RedisLink, run: string, signal: AbortSignal): Promise<string | null> {
  if (link.away) return 'waiting for Redis';
  const workers = await listPresent(link, 'worker', signal);
  if (workers.length === 0) return 'waiting for a worker (guardsweep worker)';
  if ((await leaseHolder(link, sinkLease(run), signal)) === null) {
    return 'waiting for a sink (guardsweep sink)';
  }
  const down = workers.every(({ details }) => {
    const worker = WORKER.safeParse(details);
    return worker.success && worker.data.guards.every(({ state }) => state !== 'ready');
  });
  return down ? 'waiting for a guard: none of the workers has one that is ready' : null;
}
