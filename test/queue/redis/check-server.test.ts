import { createServer } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { redisAddressOf } from '../../../src/config/redis-url.ts';
import { type Failure } from '../../../src/domain/failure.ts';
import { checkServer } from '../../../src/queue/redis/check-server.ts';
import { freePort, redisForTest } from '../../helpers/redis.ts';

const never = new AbortController().signal;

const check = (url: string): Promise<Failure | null> =>
  checkServer(redisAddressOf(url, {})!, never, 1000).then(
    () => null,
    (failure: Failure) => failure,
  );

/** A server that answers every command like an old Redis. */
async function oldServer(version: string): Promise<number> {
  const info = `redis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`;
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const commands = data.toString().match(/\*\d+\r\n/g)?.length ?? 1;
      const asksInfo = /info/i.test(data.toString());
      for (let at = 0; at < commands; at++) {
        socket.write(asksInfo ? `$${info.length}\r\n${info}\r\n` : '-ERR unknown command\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

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

  it('says in one line what is wrong, without the password', async () => {
    const locked = await redisForTest({ tcp: true, settings: ['--requirepass', 'secret'] });
    const at = `127.0.0.1:${locked.port}`;
    expect(await check(`redis://:wrong-word@${at}`)).toMatchObject({
      kind: 'service',
      message: `Redis at redis://${at} (--redis) does not accept the user or password in the URL`,
    });
    expect(await check(`redis://${at}`)).toMatchObject({
      message: expect.stringContaining('wants a password') as string,
    });
    const evicting = await redisForTest({ settings: ['--maxmemory-policy', 'allkeys-lru'] });
    expect(await check(evicting.url)).toMatchObject({
      message: expect.stringContaining('set it to noeviction') as string,
    });
    expect(await check(`redis://127.0.0.1:${await oldServer('5.0.14')}`)).toMatchObject({
      kind: 'service',
      message: expect.stringContaining('has version 5.0.14; 6.2 or newer is needed') as string,
    });
    expect(await check(`redis://127.0.0.1:${await freePort()}`)).toMatchObject({
      kind: 'service',
      message: expect.stringContaining('does not answer within 1 s') as string,
    });
  });
});
