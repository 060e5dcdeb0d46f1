import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { moderate } from '../../workers/moderate.ts';
import { Opened } from '../../workers/opened.ts';
import { Cli, temporaryFolder } from '../helpers/cli.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { startScriptedGuard } from '../helpers/guards/scripted-guard.ts';
import { settled } from '../helpers/settled.ts';

/** A port that somebody else listens on. */
async function takenPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return String((server.address() as { port: number }).port);
}

it.each(['worker', 'sink'])('a %s that cannot serve its metrics ends', async (command) => {
  const guard = await startScriptedGuard();
  onTestFinished(() => guard.kill());
  const arguments_ = {
    worker: ['--guard', guard.address, '--guard', 'embedded:'],
    sink: ['--root', await temporaryFolder()],
  }[command]!;
  const cli = new Cli([command, ...arguments_, '--metrics-port', await takenPort()], {
    env: { REDIS_URL: (await redisForTest()).url },
  });
  const done = await cli.finished();
  expect(done.stderr).toContain('EADDRINUSE');
  expect(done.status).toBe(2);
});

it('what a process has opened is closed again, the last first, also when closing one of them fails', async () => {
  const opened = new Opened();
  const closed: string[] = [];
  opened.closedBy(() => closed.push('first'));
  opened.closedBy(async () => {
    throw new Error('stuck');
  });
  opened.closedBy(async () => closed.push('last'));
  await expect(opened.close()).rejects.toThrow('stuck');
  expect(closed).toEqual(['last', 'first']);
});

it('a worker whose guards cannot be opened leaves no connection to Redis behind', async () => {
  const redis = await redisForTest();
  const observing = await linkForTest(redis);
  const clients = async () =>
    String(await observing.redis.client('LIST'))
      .trim()
      .split('\n').length;
  const before = await clients();
  const never = new AbortController().signal;
  const options = {
    redis: redis.address,
    key: null,
    openGuards: () => Promise.reject(new Failure('service', 'no guard')),
    ...{
      lanes: ['text'] as const,
      roots: new Map(),
      concurrency: 1,
      startWaitMs: 1000,
      lockMs: 2000,
      metrics: null,
    },
    say: () => {},
  };
  await expect(moderate(options, { drain: never, stop: never })).rejects.toThrow('no guard');
  await settled(async () => (await clients()) === before);
});
