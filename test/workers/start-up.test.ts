import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { moderate } from '../../workers/moderate.ts';
import { Cli, temporaryFolder } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { gate } from '../helpers/guards/gate.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import { until } from '../helpers/run-directory.ts';
import { settled } from '../helpers/settled.ts';

it('a worker that cannot serve its metrics ends', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const taken = String((server.address() as { port: number }).port);
  const cli = new Cli(['worker', '--guard', 'embedded:', '--metrics-port', taken], {
    env: { REDIS_URL: (await redisForTest()).url },
  });
  const done = await cli.finished();
  expect(done.stderr).toContain('EADDRINUSE');
  expect(done.status).toBe(2);
});

it('a worker and a sink that are told to end drain and end with 0, working or still waiting for a guard', async () => {
  const server = await guard();
  const env = { REDIS_URL: (await redisForTest()).url };
  const worker = new Cli(['worker', '--guard', server.address], { env });
  const early = new Cli(['worker', '--guard', 'grpc://127.0.0.1:1'], { env });
  const sink = new Cli(['sink', '--root', await temporaryFolder()], { env });
  await until(async () => worker.stderr.includes(' takes text'), 'the worker');
  await until(async () => sink.stderr.includes(' commits runs'), 'the sink');
  for (const cli of [worker, sink, early]) cli.kill('SIGTERM');
  for (const cli of [worker, sink, early]) expectStatus(await cli.finished(), 0);
});

it('a worker that abandons a shard at a second signal ends with 130', async () => {
  const asked = gate();
  const server = await guard({
    script: async ({ cancelled }) => {
      asked.open();
      await cancelled;
    },
  });
  const { fleet, path } = await fleetWithComments(10, { guards: [server.address] });
  const worker = fleet.worker();
  const feeder = fleet.enqueue(path);
  await asked.opened;
  worker.kill('SIGTERM');
  // A signal that follows within half a second counts as the same.
  await delay(1000);
  worker.kill('SIGTERM');
  expectStatus(await worker.finished(), 130);
  feeder.kill('SIGTERM');
  expectStatus(await feeder.finished(), 130);
});

it('a worker whose guards cannot be opened leaves no connection to Redis behind', async () => {
  const redis = await redisForTest();
  const observing = await linkForTest(redis);
  const clients = async () => String(await observing.redis.client('LIST')).split('\n').length;
  const before = await clients();
  const never = new AbortController().signal;
  const options = {
    redis: redis.address,
    key: null,
    lanes: ['text'] as const,
    roots: new Map(),
    metrics: null,
    concurrency: 1,
    startWaitMs: 60_000,
    lockMs: 2000,
    say: () => {},
    openGuards: () => Promise.reject(new Failure('service', 'no guard')),
  };
  await expect(moderate(options, { drain: never, stop: never })).rejects.toThrow('no guard');
  await settled(async () => (await clients()) === before);
});
