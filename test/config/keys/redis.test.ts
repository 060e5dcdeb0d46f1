import { describe, expect, it } from 'vitest';
import { REDIS } from '../../../src/config/settings/entries/fleet.ts';
import { valueOf } from '../../../src/config/settings/given.ts';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';
import { readFleetKey } from '../../../src/config/keys/fleet-key.ts';
import type { Failure } from '../../../src/domain/failure.ts';

const of = (url: string) => parseRedisUrl({ value: url, place: '--redis' }, {});

describe('the address of Redis', () => {
  it('is read from the flag before the environment', async () => {
    const redis = (flag: string | undefined, env: NodeJS.ProcessEnv) =>
      valueOf(REDIS, { flags: { redis: flag }, env, cwd: '/' });
    expect(await redis(undefined, {})).toBeNull();
    const ofEnvironment = { at: { host: 'b', port: 6379 }, place: 'REDIS_URL', prefix: '{guardsweep}' };
    expect(await redis(undefined, { REDIS_URL: 'redis://b' })).toMatchObject(ofEnvironment);
    const env = { REDIS_URL: 'redis://b', REDIS_PREFIX: 'nightly' };
    const ofFlag = { at: { host: 'a', port: 7000 }, database: 2, place: '--redis', prefix: '{nightly}' };
    expect(await redis('redis://a:7000/2', env)).toMatchObject(ofFlag);
  });

  it('may be encrypted, have a user, or be a socket', () => {
    const encrypted = { tls: true, username: 'user', password: 'p@ss', shown: 'rediss://queue.example:6380' };
    expect(of('rediss://user:p%40ss@queue.example:6380')).toMatchObject(encrypted);
    expect(of('redis://[::1]:6379')).toMatchObject({ at: { host: '::1', port: 6379 } });
    const socket = { at: { path: '/run/redis/redis.sock' }, database: 1 };
    expect(of('unix:///run/redis/redis.sock?db=1')).toMatchObject(socket);
  });

  it.each(['', 'http://a', 'redis://a/x', 'unix:///run/%zz.sock', `unix:///${'a'.repeat(120)}`])(
    'is refused when it is %j',
    (url) => {
      expect(() => of(url)).toThrow(/^--redis: /);
    },
  );

  it('is never repeated in a message, because it may hold a password', () => {
    expect(() => of('redis://:secret@host/not-a-number')).toThrow(/^(?!.*secret)/);
    expect(() => of('reddis://:secret@host')).toThrow(/^(?!.*secret)/);
  });
});

const KEY = 'a5'.repeat(32);

async function keyOf(env: NodeJS.ProcessEnv, url: string) {
  const key = readFleetKey(of(url), env);
  return key === null ? null : key.export().toString();
}

async function refusal(env: NodeJS.ProcessEnv, url: string): Promise<string> {
  const error: unknown = await keyOf(env, url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ exitStatus: 2 });
  return (error as Failure).message;
}

it('a Redis on another machine needs a key, and is told what to do', async () => {
  const message = await refusal({}, 'redis://queue-1:6379');
  expect(message).toContain('GUARDSWEEP_FLEET_KEY');
  expect(message).toContain('openssl rand -hex 32');
});

it.each(['redis://localhost:6379', 'redis://127.0.0.1:6379', 'redis://[::1]:6379', 'unix:///run/redis.sock'])(
  '%s needs none',
  async (url) => {
    expect(await keyOf({}, url)).toBeNull();
    expect(await keyOf({ GUARDSWEEP_FLEET_KEY: KEY }, url)).toBe(KEY);
  },
);

it('is refused where it is none, and never quoted', async () => {
  for (const bad of ['secret-word', `${KEY} ${KEY}`, `${KEY}\n${KEY}`, `${KEY}\u00e9`]) {
    const message = await refusal({ GUARDSWEEP_FLEET_KEY: bad }, 'redis://localhost');
    expect(message).not.toContain(bad.slice(0, 8));
  }
});
