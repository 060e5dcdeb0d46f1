import { z } from 'zod';
import type { Lane } from '../../domain/item.ts';
import { FleetRuns } from '../redis/fleet-runs.ts';
import { leaseHolder } from '../redis/lease.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { activeShards } from '../redis/depths.ts';
import { runOfJob } from '../../queue/redis/sealing/sealed-jobs.ts';
import { readMemory } from '../redis/redis-memory.ts';
import { listPresent } from '../redis/presence.ts';

/** The announced details of a worker that explain a stall. */
const WORKER = z.looseObject({
  lanes: z.array(z.string()),
  guards: z.array(z.looseObject({ state: z.string() })),
});

/**
 * Redis includes the command it is receiving in its memory use, so it refuses a large one before it is full: a shard of
 * 1 MiB, and the same again for its encoding.
 */
const LARGE_COMMAND_BYTES = 2 * 1024 * 1024;

/** The announced details of a sink that explain a stall. */
const SINK = z.looseObject({ diskFull: z.array(z.string()) });

export const WAITING_FOR_REDIS = 'waiting for Redis';

/** Name of the lease that the sink of a run holds. */
export function sinkLease(run: string): string {
  return `sink-${run}`;
}

/**
 * What a run is waiting for: the lane of its oldest uncommitted shard, or `end` if all shards are committed; null if
 * there is nothing to wait for because its feeder is still reading.
 */
type WaitsFor = Lane | 'end' | null;

/** Why a run is stalled, as a short phrase; null if it is not. */
export async function stallReason(
  link: RedisLink,
  { run, waitsFor }: { readonly run: string; readonly waitsFor: WaitsFor },
  signal: AbortSignal,
): Promise<string | null> {
  if (link.away) return WAITING_FOR_REDIS;
  const { usedBytes, maxBytes } = await readMemory(link, signal);
  if (maxBytes !== null && usedBytes + LARGE_COMMAND_BYTES > maxBytes) {
    return `Redis is full: it holds ${inMib(usedBytes)} of the ${inMib(maxBytes)} MiB that maxmemory allows`;
  }
  if (waitsFor === null) return null;
  if (waitsFor === 'end') return sinkLacks(link, run, signal);
  const workers = (await listPresent(link, 'worker', signal)).map(
    ({ details }) => WORKER.safeParse(details).data,
  );
  if (workers.length === 0) return 'waiting for a worker (guardsweep worker)';
  const able = workers.filter((worker) => worker === undefined || worker.lanes.includes(waitsFor));
  if (able.length === 0) {
    const corpora = waitsFor === 'image' || waitsFor === 'audio' ? ', and --root for the corpora' : '';
    return `waiting for a worker that takes the lane ${waitsFor} (guardsweep worker --lanes${corpora})`;
  }
  const lacks = await sinkLacks(link, run, signal);
  if (lacks !== null) return lacks;
  // The details of a worker of another version may be unreadable; such a worker counts as able.
  const down = able.every((worker) => worker?.guards.every(({ state }) => state !== 'ready') ?? false);
  if (down) return 'waiting for a guard: none of the workers has one that is ready';
  return (
    (await new FleetRuns(link).obstacle(run, signal)) ??
    (await turnOfOthers(link, { run, lane: waitsFor }, signal))
  );
}

/** Whether the workers of a lane are judging shards of other runs and none of this one. */
async function turnOfOthers(
  link: RedisLink,
  { run, lane }: { readonly run: string; readonly lane: Lane },
  signal: AbortSignal,
): Promise<string | null> {
  const jobs = await activeShards(link, lane, signal);
  const runs = new Set(jobs.map(runOfJob));
  if (runs.size === 0 || runs.has(run)) return null;
  return `waiting for its turn: the workers judge ${jobs.length} shards of other runs`;
}

async function sinkLacks(link: RedisLink, run: string, signal: AbortSignal): Promise<string | null> {
  const holder = await leaseHolder(link, sinkLease(run), signal);
  if (holder === null) return 'waiting for a sink (guardsweep sink)';
  const sink = (await listPresent(link, 'sink', signal)).find(({ id }) => id === holder);
  return SINK.safeParse(sink?.details).data?.diskFull.includes(run) === true
    ? 'the disk of the run is full: its sink waits for room'
    : null;
}

function inMib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(0);
}
