import { LANES, type Lane } from '../../domain/item.ts';
import { shardQueue } from './fleet-queues.ts';
import { escapeGlob } from '../../queue/redis/keys/glob.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Keys that Redis looks at for one answer, and that are removed by one command. */
const AT_A_TIME = 1000;

/**
 * Removes what runs that are over have left in Redis: shards that nobody has in hand, outcomes, notes of deaths. To be
 * struck off the list of runs before, so that workers add nothing to it: one that does nevertheless clears the queue of
 * outcomes itself. Looks once at every key of the database, some at a time, however many runs there are.
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

/** What a run that is over has left, as `sweepRuns`. */
export function sweepRun(link: RedisLink, run: string, signal: AbortSignal): Promise<void> {
  return sweepRuns(link, [run], signal);
}

/** The job of a shard, by the parts of its key; null when it is none. */
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
 * The run that a key other than of a shard's job is about, by its parts: its outcomes, notes of its shards, the right to
 * commit it, and what is kept beside a job. Null when it is none.
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
/** Name of a shard's job: run, pass, shard, epoch. */
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
