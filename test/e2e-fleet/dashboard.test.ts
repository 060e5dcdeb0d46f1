import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunRow, Started } from '../../src/dashboard/api/runs.ts';
import { Cli, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { followEvents, openSession } from '../helpers/dashboard.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { gate } from '../helpers/guards/gate.ts';
import { startScriptedGuard } from '../helpers/guards/scripted-guard.ts';
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

/** A fleet without processes, a guard that answers once its gate is open, and a dashboard whose events are followed. */
async function dashboardOfFleet() {
  const judging = gate();
  const guard = await startScriptedGuard({ script: () => judging.opened });
  onTestFinished(() => guard.kill());
  const redis = await redisForTest();
  const folder = await temporaryFolder();
  const out = join(folder, 'runs');
  await mkdir(out);
  await writeComments(folder, 'a.csv', ROWS);
  const fleet = new Fleet({ redis, out, guards: [guard.address] });
  const [origin, token] = await serveCli(['--redis', redis.url, '--out', out, '--root', folder]);
  const session = await openSession(origin, token);
  const events = await followEvents(session);
  const reaches = async (run: string, wanted: (row: RunRow) => boolean): Promise<RunRow> => {
    const rows = await events.next((all) => all.some((row) => row.run === run && wanted(row)));
    return rows.find((row) => row.run === run)!;
  };
  const act = async (run: string, action: string): Promise<number> =>
    (await session.fetch(`/api/runs/${run}/actions/${action}`, { method: 'POST', body: {} })).status;
  return { fleet, redis, folder, judging, session, events, reaches, act };
}

it('a fleet judges a run that is started from the page, which says what it waits for, also through an outage of Redis', async () => {
  const { fleet, redis, judging, session, events, reaches, act } = await dashboardOfFleet();
  const waitsFor = (run: string, problem: string | null): Promise<RunRow> =>
    reaches(run, (row) => row.problem === problem);
  expect((await events.health(({ fleet: seen }) => seen?.connected === true)).fleet).toMatchObject({
    workers: 0,
    sinks: 0,
  });
  const response = await session.fetch('/api/runs', {
    method: 'POST',
    body: { paths: ['a.csv'], name: 'by-fleet' },
  });
  const { run } = (await response.json()) as Started;
  expect(response.status).toBe(200);
  await waitsFor(run, 'waiting for a worker (guardsweep worker)');
  fleet.worker();
  await waitsFor(run, 'waiting for a sink (guardsweep sink)');
  await events.health(
    ({ fleet: seen }) => seen?.workers === 1 && seen.queues.some(({ active }) => active > 0),
  );
  fleet.sink();
  await events.health(({ fleet: seen }) => seen?.sinks === 1);
  await waitsFor(run, null);

  expect(await act(run, 'pause')).toBe(202);
  await reaches(run, ({ state }) => state === 'paused');
  expect(await act(run, 'continue')).toBe(202);
  await reaches(run, ({ state }) => state === 'running');

  await redis.kill();
  const { fleet: away } = await events.health(({ fleet: seen }) => seen?.connected === false);
  expect(away).toEqual({ redis: redis.address.shown, connected: false, workers: 0, sinks: 0, queues: [] });
  await waitsFor(run, 'waiting for Redis');
  await redis.boot();
  await events.health(({ fleet: seen }) => seen?.workers === 1 && seen.sinks === 1);
  await waitsFor(run, null);
  judging.open();
  expect(await reaches(run, ({ state }) => state === 'finished')).toMatchObject({
    problem: null,
    progress: { planned: ROWS, judged: ROWS, errors: 0 },
  });
});

it('a run of a fleet that another process feeds is shown live, cancelled, and resumed from here', async () => {
  const { fleet, folder, judging, session, reaches, act } = await dashboardOfFleet();
  fleet.worker();
  fleet.sink();
  const feeder = fleet.enqueue(join(folder, 'a.csv'));
  const run = basename(await fleet.run());
  await reaches(run, ({ state, progress }) => state === 'running' && progress.planned === ROWS);
  expect(await act(run, 'cancel')).toBe(202);
  await reaches(run, ({ state }) => state === 'cancelled');
  expectStatus(await feeder.finished(), 130);
  judging.open();
  expect(await act(run, 'resume')).toBe(202);
  const finished = await reaches(run, ({ state }) => state === 'finished');
  expect(finished).toMatchObject({ progress: { judged: ROWS, errors: 0 }, actions: [] });
  const detail = await session.fetch(`/api/runs/${run}`);
  expect(await detail.json()).toMatchObject({ guards: [], summary: { verdicts: ROWS } });
});
