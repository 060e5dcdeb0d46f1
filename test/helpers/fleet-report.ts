import type { Redis } from 'ioredis';
import type { Cli } from './cli.ts';
import type { Fleet } from './fleet.ts';

export interface Reported {
  readonly fleet: Fleet;
  readonly processes: Readonly<Record<string, Cli>>;
  readonly redis: Redis;
  /** Run directory. */
  readonly dir: string;
}

const PREFIX = '{guardsweep}';
/** Keys that BullMQ keeps of a queue. */
const KEYS = [
  ...['wait', 'active', 'delayed', 'prioritized', 'paused', 'stalled', 'completed', 'failed'],
  ...['waiting-children', 'marker', 'meta', 'limiter', 'stalled-check'],
];
const LAST_LINES = 25;
const MAX_JOBS = 20;

/** Rejects with all that can be seen of a fleet when a run does not end in time; else gives what it waited for. */
export async function inTime<T>(ended: Promise<T>, withinMs: number, fleet: Reported): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), withinMs);
  });
  const first = await Promise.race([ended.then((value) => ({ value })), late]);
  clearTimeout(timer);
  if (first !== 'late') return first.value;
  throw new Error(`the run did not end within ${withinMs / 1000} s\n${await reportOf(fleet)}`);
}

async function reportOf({ fleet, processes, redis, dir }: Reported): Promise<string> {
  const run = dir.split('/').at(-1)!;
  const said = Object.entries(processes).map(
    ([name, { child, stderr }]) =>
      `--- ${name} (status ${child.exitCode}):\n${stderr.split('\n').slice(-LAST_LINES).join('\n')}`,
  );
  const queues = ['shards-text', 'shards-chat', `results-${run}`].map((queue) => queueOf(redis, queue, run));
  const keys = ['run', 'problem', 'obstacle'].map((key) => keyOf(redis, `${key}:${run}`));
  const lines = await Promise.all([...queues, ...keys, keyOf(redis, `lease:sink-${run}`)]);
  const status = await fleet.status(dir).catch((error: unknown) => String(error));
  return [JSON.stringify(status, null, 1), ...lines, ...said].join('\n');
}

async function queueOf(redis: Redis, queue: string, run: string): Promise<string> {
  const keys = await Promise.all(KEYS.map((key) => keyOf(redis, `${queue}:${key}`)));
  const meta = await redis.hgetall(`${PREFIX}:${queue}:meta`).catch(() => 'of another type');
  const jobs: string[] = [];
  for (const list of ['active', 'wait', 'paused']) {
    const ids = await redis.lrange(`${PREFIX}:${queue}:${list}`, 0, -1).catch(() => []);
    const own = ids.filter((id) => id.includes(run));
    jobs.push(`${own.length} of the run's own among ${ids.length} in ${list}`);
    for (const id of own.slice(-MAX_JOBS)) {
      jobs.push(`  ${await keyOf(redis, `${queue}:${id}`)} ${await keyOf(redis, `${queue}:${id}:lock`)}`);
    }
  }
  return [`--- ${queue}: ${JSON.stringify(meta)}`, ...keys.filter((key) => key !== ''), ...jobs].join('\n');
}

/** Type, length and end of a key; empty when there is none. */
async function keyOf(redis: Redis, name: string): Promise<string> {
  const key = `${PREFIX}:${name}`;
  const type = await redis.type(key);
  if (type === 'none') return '';
  const lengths: Readonly<Record<string, () => Promise<number>>> = {
    list: () => redis.llen(key),
    zset: () => redis.zcard(key),
    set: () => redis.scard(key),
    hash: () => redis.hlen(key),
    string: () => redis.strlen(key),
  };
  return `${name}: ${type} of ${await lengths[type]?.()}, ends in ${await redis.pttl(key)} ms`;
}
