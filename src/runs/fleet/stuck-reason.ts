import { z } from 'zod';
import { LANES } from '../../domain/item.ts';
import { readDepths } from '../../queue/redis/depths.ts';
import { FleetRuns } from '../../queue/redis/fleet-runs.ts';
import { leaseHolder } from '../../queue/redis/lease.ts';
import { type RedisLink } from '../../queue/redis/link.ts';
import { listPresent } from '../../queue/redis/presence.ts';

/** What a worker says of itself, as far as it tells why work stands still. */
const WORKER = z.looseObject({
  guards: z.array(z.looseObject({ state: z.string() })),
  lanes: z.array(z.string()),
});

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
  const known = workers.flatMap(({ details }) => WORKER.safeParse(details).data ?? []);
  if (known.length > 0 && known.every(({ guards }) => guards.every(({ state }) => state !== 'ready'))) {
    return 'waiting for a guard: none of the workers has one that is ready';
  }
  return (await untakenLane(link, known, signal)) ?? (await new FleetRuns(link).obstacle(run, signal));
}

/** A lane in which shards wait and which no worker takes. */
async function untakenLane(
  link: RedisLink,
  workers: readonly { readonly lanes: readonly string[] }[],
  signal: AbortSignal,
): Promise<string | null> {
  const taken = new Set(workers.flatMap(({ lanes }) => lanes));
  const depths = await readDepths(link, signal);
  const lane = LANES.find(
    (name) => !taken.has(name) && depths.some(({ queue, waiting }) => queue === name && waiting > 0),
  );
  if (lane === undefined) return null;
  const corpora = lane === 'image' || lane === 'audio' ? ', and --root for the corpora' : '';
  return `waiting for a worker that takes ${lane} (--lanes${corpora})`;
}
