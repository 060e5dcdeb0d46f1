import { once } from 'node:events';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { Health, RunList, RunRow } from '../../src/dashboard/api/runs.ts';
import { Cli } from '../helpers/cli.ts';
import { openSession } from '../helpers/dashboard.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { gate } from '../helpers/guards/gate.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import { redisForTest } from '../helpers/redis/redis.ts';

const ROWS = 600;

/** The dashboard of the built command line; returns what is needed to log in. */
async function serveCli(args: readonly string[]): Promise<[origin: string, token: string]> {
  const cli = new Cli(['serve', '--port', '0', ...args]);
  for (;;) {
    const [, origin, token] = /dashboard: (\S+)\/login#token=(\S+)\n/.exec(cli.stdout) ?? [];
    if (origin !== undefined && token !== undefined) return [origin, token];
    await once(cli.child.stdout!, 'data');
  }
}

it('a run of a fleet is shown with what it waits for, also through an outage of Redis, and is steered', async () => {
  const judging = gate();
  const server = await guard({ script: () => judging.opened });
  const redis = await redisForTest();
  const { fleet, folder, out, path } = await fleetWithComments(ROWS, { redis, guards: [server.address] });
  const [origin, token] = await serveCli(['--redis', redis.url, '--out', out, '--root', folder]);
  const session = await openSession(origin, token);
  const feeder = fleet.enqueue(path);
  const run = basename(await fleet.run());
  const listOnce = async (isWanted: (list: RunList) => boolean): Promise<RunList> => {
    let list: RunList | null = null;
    const look = async () => isWanted((list = await session.json<RunList>('/api/runs'))) || list;
    await expect.poll(look, { timeout: 60_000, interval: 200 }).toBe(true);
    return list!;
  };
  const reaches = (isWanted: (row: RunRow) => boolean): Promise<RunList> =>
    listOnce(({ runs }) => runs.some((row) => row.run === run && isWanted(row)));
  const waitsFor = (problem: string | null): Promise<RunList> => reaches((row) => row.problem === problem);
  const fleetIs = async (isWanted: (seen: NonNullable<Health['fleet']>) => boolean): Promise<unknown> =>
    (await listOnce(({ health }) => health.fleet !== null && isWanted(health.fleet))).health.fleet;
  const act = async (action: string): Promise<number> =>
    (await session.fetch(`/api/runs/${run}/actions/${action}`, { method: 'POST', body: {} })).status;

  expect(await fleetIs(({ connected }) => connected)).toMatchObject({ workers: 0, sinks: 0 });
  await waitsFor('waiting for a worker (guardsweep worker)');
  fleet.worker();
  await waitsFor('waiting for a sink (guardsweep sink)');
  await fleetIs(({ workers, queues }) => workers === 1 && queues.some(({ active }) => active > 0));
  fleet.sink();
  await fleetIs(({ sinks }) => sinks === 1);
  await waitsFor(null);

  expect(await act('pause')).toBe(202);
  await reaches(({ state }) => state === 'paused');
  expect(await act('pause')).toBe(409);
  // Commands that start or resume a run are shown, to be typed.
  expect(await act('resume')).toBe(404);
  expect(await act('continue')).toBe(202);
  await reaches(({ state }) => state === 'running');

  await redis.kill();
  const away = await fleetIs(({ connected }) => !connected);
  expect(away).toEqual({ redis: redis.address.shown, connected: false, workers: 0, sinks: 0, queues: [] });
  await waitsFor('waiting for Redis');
  await redis.boot();
  await fleetIs(({ workers, sinks }) => workers === 1 && sinks === 1);
  await waitsFor(null);

  expect(await act('cancel')).toBe(202);
  await reaches(({ state }) => state === 'cancelled');
  expectStatus(await feeder.finished(), 130);
  judging.open();
  const detail = await session.fetch(`/api/runs/${run}`);
  expect(await detail.json()).toMatchObject({
    guards: [],
    command: expect.stringContaining(`resume ${join(out, run)}`) as string,
  });
});
