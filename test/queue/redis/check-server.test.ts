import { describe, expect, it } from 'vitest';
import { parseRedisUrl } from '../../../src/config/values/redis-url.ts';
import type { Failure } from '../../../src/domain/failure.ts';
import { checkServer } from '../../../src/queue/redis/check-server.ts';
import { freePort } from '../../helpers/free-port.ts';
import { redisForTest } from '../../helpers/redis/redis.ts';

const never = new AbortController().signal;

const check = (url: string): Promise<Failure | null> =>
  checkServer(parseRedisUrl({ value: url, place: '--redis' }, {}), never, 1000).then(
    () => null,
    (failure: Failure) => failure,
  );

describe('the check of a server before work begins', () => {
  it('takes a Redis on a socket, on a port, with a password, and as an ACL user', async () => {
    expect(await check((await redisForTest()).url)).toBeNull();
    const locked = await redisForTest({
      tcp: true,
      settings: ['--requirepass', 'secret', '--user', 'sweeper', 'on', '>hidden', '~*', '+@all'],
    });
    expect(await check(`redis://:secret@127.0.0.1:${locked.port}`)).toBeNull();
    expect(await check(`redis://sweeper:hidden@127.0.0.1:${locked.port}/3`)).toBeNull();
  });

  /** A failure of the service whose message has these words. */
  const refusal = (words: string) => ({ kind: 'service', message: expect.stringContaining(words) as string });

  it('says in one line what is wrong, without the password', async () => {
    const locked = await redisForTest({ tcp: true, settings: ['--requirepass', 'secret'] });
    const at = `127.0.0.1:${locked.port}`;
    expect(await check(`redis://:wrong-word@${at}`)).toMatchObject({
      kind: 'service',
      message: `Redis at redis://${at} (--redis) does not accept the user or password in the URL`,
    });
    expect(await check(`redis://${at}`)).toMatchObject(refusal('wants a password'));
    const evicting = await redisForTest({ settings: ['--maxmemory-policy', 'allkeys-lru'] });
    expect(await check(evicting.url)).toMatchObject(refusal('set it to noeviction'));
    const silent = await freePort();
    expect(await check(`redis://127.0.0.1:${silent}`)).toMatchObject(refusal('does not answer within 1 s'));
  });

  it('takes no server that would put the work elsewhere, or not take it', async () => {
    const open = await redisForTest({ tcp: true, settings: ['--databases', '4'] });
    const at = `127.0.0.1:${open.port}`;
    expect(await check(`redis://${at}/4`)).toMatchObject(refusal('does not have the database in the URL'));
    const restricted = ['--user', 'other', 'on', '>hidden', '~{other}:*', '+@all'];
    const shared = await redisForTest({ tcp: true, settings: restricted });
    expect(await check(`redis://other:hidden@127.0.0.1:${shared.port}`)).toMatchObject(
      refusal('use the keys'),
    );
    const replica = await redisForTest({ tcp: true, settings: ['--replicaof', '127.0.0.1', `${open.port}`] });
    expect(await check(`redis://127.0.0.1:${replica.port}`)).toMatchObject(refusal('is a replica'));
  });

  it('lets a server that is full pass: there will be room again', async () => {
    expect(await check((await redisForTest({ settings: ['--maxmemory', '1'] })).url)).toBeNull();
  });
});
