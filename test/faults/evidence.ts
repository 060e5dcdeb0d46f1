import { cp, mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { guardsweep } from '../helpers/cli.ts';
import type { TestRedis } from '../helpers/redis/redis.ts';
import type { Part } from './part.ts';
import type { Storm } from './storm.ts';

export interface Scene {
  readonly seed: number;
  readonly run: string | null;
  readonly redis: TestRedis;
  readonly parts: readonly Part[];
  readonly storm: Storm;
}

/** Keeps what tells why a run did not end as it should; gives the folder. */
export async function keepEvidence({ seed, run, redis, parts, storm }: Scene): Promise<string> {
  const folder = join(tmpdir(), 'faults-evidence', String(seed));
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'storm.txt'), `${storm.log.join('\n')}\n`);
  for (const part of parts) await writeFile(join(folder, `${part.name}.stderr`), part.said());
  await writeFile(join(folder, 'redis.txt'), await describeRedis(redis).catch(String));
  if (run === null) return folder;
  const status = await guardsweep(['status', run, '--json'], { env: { REDIS_URL: redis.url } });
  await writeFile(join(folder, 'status.json'), status.stdout + status.stderr);
  await cp(run, join(folder, 'run'), { recursive: true });
  return folder;
}

/** Every key with what is in it, but no content of jobs. */
async function describeRedis(server: TestRedis): Promise<string> {
  const redis = new Redis(`${server.folder}/redis.sock`, {
    maxRetriesPerRequest: 1,
    retryStrategy: () => null,
  });
  redis.on('error', () => {});
  try {
    const lines: string[] = [];
    for (const key of (await redis.keys('*')).sort()) lines.push(`${key} ${await describeKey(redis, key)}`);
    lines.push(String(await redis.call('CLIENT', 'LIST')));
    return lines.join('\n');
  } finally {
    redis.disconnect();
  }
}

async function describeKey(redis: Redis, key: string): Promise<string> {
  const type = await redis.type(key);
  const ttl = await redis.pttl(key);
  const value = await readKey(redis, key, type);
  return `${type} ttl ${ttl} ${JSON.stringify(value)}`;
}

async function readKey(redis: Redis, key: string, type: string): Promise<unknown> {
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.call('ZRANGE', key, 0, -1, 'WITHSCORES');
    case 'hash': {
      const { data, ...rest } = await redis.hgetall(key);
      return data === undefined ? rest : { ...rest, dataBytes: data.length };
    }
    default:
      return null;
  }
}
