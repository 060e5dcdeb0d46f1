import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { committedShards, outcomes, until } from '../helpers/run-directory.ts';

const ROWS = 6000;
const PRELOAD = new URL('../helpers/preload/full-disk.mjs', import.meta.url).href;

it('a sink whose disk is full waits for room, then has the run end, which is resumed', async () => {
  const { fleet, folder, path } = await fleetWithComments(ROWS, { guards: ['embedded:'] });
  const marker = join(folder, 'full');
  const sink = fleet.sink([], { NODE_OPTIONS: `--import=${PRELOAD}`, FULL_DISK: marker });
  const reported = (times: number, what: RegExp) =>
    until(async () => (sink.stderr.match(what) ?? []).length === times, String(what));

  await until(async () => sink.stderr.includes('commits runs'), 'the sink');
  await writeFile(marker, '');
  const feeder = fleet.enqueue(path, ['--max-wait', '20s']);
  fleet.worker();
  const run = await fleet.run();
  await reported(1, /The disk is full/g);
  const why = 'the disk of the run is full: its sink waits for room';
  await until(async () => (await fleet.status(run)).stuck === why, why);
  await until(async () => feeder.stderr.includes(why), 'the feeder to say so');
  await rm(marker);
  await reported(1, /There is disk space again/g);
  await until(async () => (await committedShards(run)) > 0, 'a commit');
  await writeFile(marker, '');

  const ended = await feeder.finished();
  expectStatus(ended, 4);
  expect(ended.stderr).toMatch(/disk (is still|of the run is) full/);
  await reported(1, /cannot continue: the disk is still full/g);
  await rm(marker);
  expectStatus(await fleet.resume(run).finished(), 0);
  expect(await outcomes(run)).toHaveLength(ROWS);
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
});
