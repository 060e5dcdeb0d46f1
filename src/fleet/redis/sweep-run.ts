import { LANES, type Lane } from '../../domain/item.ts';
import { shardQueue } from './fleet-queues.ts';
import { escapeGlob } from '../../queue/redis/remove-keys.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Keys per SCAN, and keys per UNLINK. */
const KEYS_PER_COMMAND = 1000;

/**
 * Removes the leftover keys of ended runs from Redis: shards that no worker is judging, results. Remove a run
 * from the registry first, so that workers stop adding results; a worker that adds one after that clears the result queue
 * itself. Scans the keys of the database once, however many runs there are.
 */
export async function sweepRuns(link: RedisLink, runs: Iterable<string>, signal: AbortSignal): Promise<void> {
  const over = new Set(runs);
  if (over.size === 0) return;
  const shards = new Map<Lane, string[]>(LANES.map((lane) => [lane, []]));
  const rest: string[] = [];
  for await (const { key, run, shard } of keysOfRuns(link, signal)) {
    if (!over.has(run)) continue;
    if (shard === null) rest.push(key);
    else shards.get(shard.lane)!.push(shard.id);
  }
  for (const [lane, ids] of shards) await removeShards(link, lane, ids, signal);
  for (let at = 0; at < rest.length; at += KEYS_PER_COMMAND) {
    await retryWhileTransient(() => link.redis.unlink(...rest.slice(at, at + KEYS_PER_COMMAND)), signal);
  }
}

/**
 * The runs that have keys in Redis, registered or not. A worker that dies just after it added a result of an ended run
 * leaves keys behind that nothing else names.
 */
export async function runsWithKeys(link: RedisLink, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const runs = new Set<string>();
  for await (const { run } of keysOfRuns(link, signal)) runs.add(run);
  return runs;
}

interface KeyOfRun {
  readonly key: string;
  readonly run: string;
  /** Null for keys other than shard jobs. */
  readonly shard: { readonly lane: Lane; readonly id: string } | null;
}

async function* keysOfRuns(link: RedisLink, signal: AbortSignal): AsyncGenerator<KeyOfRun> {
  const pattern = `${escapeGlob(link.key())}:*`;
  const before = link.key().length + 1;
  let cursor = '0';
  do {
    const scan = (): Promise<[string, string[]]> =>
      link.redis.scan(cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_COMMAND);
    const [next, keys] = await retryWhileTransient(scan, signal);
    for (const key of keys) {
      const parts = key.slice(before).split(':');
      const shard = shardOf(parts);
      const run = shard?.run ?? runOf(parts);
      if (run !== null) yield { key, run, shard };
    }
    cursor = next;
  } while (cursor !== '0');
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
 * The run that a key other than a shard job belongs to, from the parts of the key: results, the sink's
 * lease, and BullMQ's auxiliary keys of a job. Null when it belongs to none.
 */
function runOf([folder = '', name = '']: readonly string[]): string | null {
  if (folder.startsWith(RESULTS)) return folder.slice(RESULTS.length);
  if (folder === 'lease') return name.startsWith(SINK) ? name.slice(SINK.length) : null;
  return folder.startsWith('shards-') ? (SHARD.exec(name)?.[1] ?? null) : null;
}

const RESULTS = 'results-';
const SINK = 'sink-';
/** Id of a shard job: run, pass, shard, epoch. linear: at most 51 characters are tried behind each position. */
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
