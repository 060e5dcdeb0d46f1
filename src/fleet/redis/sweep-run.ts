import { LANES, type Lane } from '../../domain/item.ts';
import { shardQueue } from './fleet-queues.ts';
import { escapeGlob } from '../../queue/redis/keys/glob.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Keys per SCAN, and keys that one command removes. */
const AT_A_TIME = 1000;

/**
 * Removes what runs that are over have left in Redis: shards that no worker is judging, results, death notes. Remove a
 * run from the registry first, so that workers add nothing to it; a worker that does so all the same clears the result
 * queue itself. Scans the keys of the database once, however many runs there are.
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
      link.redis.scan(cursor, 'MATCH', pattern, 'COUNT', AT_A_TIME);
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
  for (let at = 0; at < rest.length; at += AT_A_TIME) {
    await retryWhileTransient(() => link.redis.unlink(...rest.slice(at, at + AT_A_TIME)), signal);
  }
}

/** `sweepRuns` for one run. */
export function sweepRun(link: RedisLink, run: string, signal: AbortSignal): Promise<void> {
  return sweepRuns(link, [run], signal);
}

/** The shard job that a key holds, from the parts of the key; null when it holds none. */
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
 * The run that a key belongs to, unless it is a shard job, from the parts of the key: results, notes of shards, the
 * sink's lease, and what BullMQ keeps beside a job. Null when it belongs to none.
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
