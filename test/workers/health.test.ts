import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Cli } from '../helpers/cli.ts';
import { fleetWithComments } from '../helpers/fleet.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { until } from '../helpers/run-directory.ts';

/** The address that a process serves its health at, which it prints. */
function originOf(cli: Cli): Promise<string> {
  const printed = /(?:metrics at|gateway listening on) (http:\/\/[\d.:]+)/;
  return until(async () => printed.exec(cli.stderr + cli.stdout)?.[1], 'the address');
}

/** Waits until a process says of itself what is expected: the names of what it lacks, or that it is ready. */
async function expectReadiness(cli: Cli, missing: readonly string[]): Promise<void> {
  const url = `${await originOf(cli)}/readyz`;
  const expected = missing.length === 0 ? 200 : 503;
  const isSo = async (): Promise<boolean> => {
    await delay(100);
    const response = await fetch(url);
    const text = await response.text();
    return response.status === expected && missing.every((name) => text.includes(name));
  };
  await until(isSo, `${url} to answer ${expected} ${missing.join(', ')}`);
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(expected);
}

it('worker, sink, scheduler and serve are ready while Redis, a guard and the root are there, and alive meanwhile', async () => {
  const redis = await redisForTest();
  const server = await guard();
  const { fleet, folder, out } = await fleetWithComments(1, { redis, guards: [server.address] });
  const metrics = ['--metrics-port', '0'];
  const worker = fleet.worker({ args: metrics });
  const sink = fleet.sink(metrics);
  const serve = new Cli(['serve', '--port', '0', '--guard', server.address, '--out', out], {
    env: { REDIS_URL: redis.url },
  });
  const scheduler = fleet.scheduler(folder, metrics);
  const all = [worker, sink, scheduler, serve];
  for (const cli of all) await expectReadiness(cli, []);

  await redis.kill();
  for (const cli of all) await expectReadiness(cli, ['redis']);
  for (const cli of all) {
    for (const method of ['GET', 'HEAD'])
      expect((await fetch(`${await originOf(cli)}/healthz`, { method })).status).toBe(200);
  }
  await redis.boot();
  for (const cli of all) await expectReadiness(cli, []);

  server.kill();
  for (const cli of [worker, serve]) await expectReadiness(cli, ['guard']);
  await expectReadiness(sink, []);
  await guard({ port: server.port });
  for (const cli of all) await expectReadiness(cli, []);

  await rename(out, `${folder}/elsewhere`);
  await expectReadiness(sink, ['root']);
  await rename(`${folder}/elsewhere`, out);
  await expectReadiness(sink, []);

  // A Redis that hangs does not count as one that answers.
  process.kill(redis.pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(redis.pid, 'SIGCONT'));
  await expectReadiness(sink, ['redis']);
  process.kill(redis.pid, 'SIGCONT');
  await expectReadiness(sink, []);
});
