import { LANES, type Lane } from '../../domain/item.ts';
import { shardQueue } from './fleet-queues.ts';
import { escapeGlob } from '../../queue/redis/keys/glob.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Keys per SCAN, and keys per UNLINK. */
const KEYS_PER_COMMAND = 1000;

/**
 * Removes the leftover keys of ended runs from Redis: shards that no worker is judging, results, death notes. Remove a run
 * from the registry first, so that workers stop adding results; a worker that adds one after that clears the result queue
 * itself. Scans the keys of the database once, however many runs there are.
 */
export async function sweepRuns(link: RedisLink, runs: Iterable<string>, signal: AbortSignal): Promise<void> {
  const over = new Set(runs);
  if (over.size === 0) return;
  const pattern = `${escapeGlob(link.key())}:*`;
  const before = link.key().length + 1;
  const shards = new Map<Lane, string[]>(LANES.map((lane) => [lane, []]));
  const rest: string[] = [];
  let cursor = '0';
  do {
    const scan = (): Promise<[string, string[]]> =>
      link.redis.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_COMMAND);
    const [next, keys] = await retryWhileTransient(scan, signal);
    for (const key of keys) {
      const parts = key.slice(before).split(':');
      const shard = shardOf(parts);
      if (shard !== null) {
        if (over.has(shard.run)) shards.get(shard.lane)!.push(shard.id);
      } else {
        const run = runOf(parts);
        if (run !== null && over.has(run)) rest.push(key);
      }
    }
    cursor = next;
  } while (cursor !== '0');
  for (const [lane, ids] of shards) await removeShards(link, lane, ids, signal);
  for (let at = 0; at < rest.length; at += KEYS_PER_COMMAND) {
    await retryWhileTransient(() => link.redis.unlink(...rest.slice(at, at + KEYS_PER_COMMAND)), signal);
  }
}

/** `sweepRuns` for one run. */
export function sweepRun(link: RedisLink, run: string, signal: AbortSignal): Promise<void> {
  return sweepRuns(link, [run], signal);
}

/** The shard job that a key holds, from the parts of the key; null for any other key. */
function shardOf([queue = '', id = '', ...more]: readonly string[]): {
  lane: Lane;
  id: string;
  run: string;
} | null {
  const lane = LANES.find((name) => queue === `shards-${name}`);
  const run = SHARD.exec(id)?.[1];
  return lane === undefined || run === undefined || more.length > 0 ? null : { lane, id, run };
}

/**
 * The run that a key other than a shard job belongs to, from the parts of the key: results, notes about shards, the sink's
 * lease, and BullMQ's auxiliary keys of a job. Null when it belongs to none.
 */
function runOf([folder = '', name = '']: readonly string[]): string | null {
  if (folder.startsWith(RESULTS)) return folder.slice(RESULTS.length);
  if (OF_SHARDS.has(folder)) return name;
  if (folder === 'lease') return name.startsWith(SINK) ? name.slice(SINK.length) : null;
  return folder.startsWith('shards-') ? (SHARD.exec(name)?.[1] ?? null) : null;
}

const RESULTS = 'results-';
const SINK = 'sink-';
const OF_SHARDS: ReadonlySet<string> = new Set(['deaths', 'lacking']);
/** Id of a shard job: run, pass, shard, epoch. */
const SHARD = /^s-(.+?)(?:-\d{1,16}){3}$/;

async function removeShards(
  link: RedisLink,
  lane: Lane,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (ids.length === 0) return;
  const queue = shardQueue(link, lane);
  try {
    for (const id of ids) await queue.remove(id, signal);
  } finally {
    await queue.close();
  }
}
