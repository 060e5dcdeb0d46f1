import { describe, expect, it } from 'vitest';
import { REDIS } from '../../../src/config/settings/entries/fleet.ts';
import { valueOf } from '../../../src/config/settings/given.ts';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';

const of = (url: string) => parseRedisUrl({ value: url, place: '--redis' }, {});

describe('the address of Redis', () => {
  it('is read from the flag before the environment', async () => {
    const redis = (flag: string | undefined, env: NodeJS.ProcessEnv) =>
      valueOf(REDIS, { flags: { redis: flag }, env, cwd: '/' });
    expect(await redis(undefined, {})).toBeNull();
    expect(await redis(undefined, { REDIS_URL: 'redis://b' })).toMatchObject({
      at: { host: 'b', port: 6379 },
      place: 'REDIS_URL',
      prefix: '{guardsweep}',
    });
    const env = { REDIS_URL: 'redis://b', REDIS_PREFIX: 'nightly' };
    expect(await redis('redis://a:7000/2', env)).toMatchObject({
      at: { host: 'a', port: 7000 },
      database: 2,
      place: '--redis',
      prefix: '{nightly}',
    });
  });

  it('may be encrypted, have a user, or be a socket', () => {
    expect(of('rediss://user:p%40ss@queue.example:6380')).toMatchObject({
      tls: true,
      username: 'user',
      password: 'p@ss',
      shown: 'rediss://queue.example:6380',
    });
    expect(of('redis://[::1]:6379')).toMatchObject({ at: { host: '::1', port: 6379 } });
    expect(of('unix:///run/redis/redis.sock?db=1')).toMatchObject({
      at: { path: '/run/redis/redis.sock' },
      database: 1,
    });
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
