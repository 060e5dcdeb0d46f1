import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { dueTimes } from '../../src/fleet/scheduler/due-times.ts';
import {
  newRecord,
  readRecord,
  recordPath,
  scheduledRunId,
  writeRecord,
} from '../../src/fleet/scheduler/schedule-record.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { writeFiles } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { outcomes, until } from '../helpers/run-directory.ts';

const ROWS = 40;
const TICK = { cron: '*/2 * * * * *', timezone: 'UTC', catchUp: 'once', keepMs: null } as const;

/** A fleet, and a folder with a job that is due every other second. */
async function schedule() {
  const server = await guard();
  const redis = await redisForTest();
  const { fleet, folder, out } = await fleetWithComments(ROWS, { redis, guards: [server.address] });
  fleet.worker();
  fleet.sink();
  const what = `name: tick\nsources: [{ path: ../a.csv }]\nguard: [${server.address}]\noutput: { dir: ${out} }\n`;
  const how = `reuse: false\nreport: false\nschedule: { cron: '${TICK.cron}' }\n`;
  await writeFiles(folder, { 'jobs/tick.yaml': what + how });
  const since = new Date();
  await writeRecord(recordPath(out, 'tick'), newRecord(TICK, since));
  return { redis, fleet, out, since, jobs: join(folder, 'jobs') };
}

const runsIn = async (out: string): Promise<string[]> =>
  (await readdir(out)).filter((name) => /^\d/.test(name)).sort();

/** Kills right after the scheduler said a line, or this long after that. */
const KILLS: readonly (readonly [after: RegExp, ms: number])[] = [
  ...[0, 5, 20, 60, 150, 400].map((ms) => [/starting the run/, ms] as const),
  [/resuming|starting the run/, 10],
  [/ended with status/, 0],
  [/skipped/, 0],
  [/due at/, 0],
];

it('a scheduler that is killed at ten points loses no time and starts no run twice', async () => {
  const { fleet, out, since, jobs } = await schedule();
  for (const [after, ms] of KILLS) {
    // Runs that end within 2 s overlap with none: what passes meanwhile is skipped at the start.
    const down = new Date();
    if (after.source === 'skipped')
      await until(async () => dueTimes(TICK, down, new Date()).length > 1, 'two times');
    const scheduler = fleet.scheduler(jobs);
    await until(async () => after.test(scheduler.stderr), `${String(after)} in ${scheduler.stderr}`);
    await delay(ms);
    scheduler.kill('SIGKILL');
    await scheduler.finished();
  }
  const last = fleet.scheduler(jobs);
  const before = (await runsIn(out)).length;
  await until(async () => (last.stderr.match(/ended with status 0/g) ?? []).length >= 3, 'three more runs');
  expect((await runsIn(out)).length).toBeGreaterThan(before);
  last.kill('SIGTERM');
  expectStatus(await last.finished(), 0);

  // Drained, it may have left a run unfinished, as one that was killed: the next one takes that to its end.
  const runs = await runsIn(out);
  const next = fleet.scheduler(jobs);
  await until(async () => {
    for (const run of runs) if (!(await verifyRun(join(out, run), {})).ok) return false;
    return true;
  }, 'the end of all runs');
  next.kill('SIGKILL');
  await next.finished();
  for (const run of runs) expect(await outcomes(join(out, run))).toHaveLength(ROWS);

  await expectEachTimeOnce(out, since);
});

/** Each time has a run or was skipped; a run has the name of its time. */
async function expectEachTimeOnce(out: string, since: Date): Promise<void> {
  const all = await runsIn(out);
  const timeOf = (run: string): Date =>
    new Date(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/, '$1-$2-$3T$4:$5:$6Z'));
  const due = dueTimes(TICK, since, timeOf(all.at(-1)!));
  const record = await readRecord(recordPath(out, 'tick'));
  if (record === null || record === 'damaged') throw new Error('no record');
  const ids = new Set(due.map((time) => scheduledRunId('tick', time)));
  for (const run of all) expect(ids).toContain(run);
  const skippedLater = record.skips.filter((skip) => new Date(skip.due) > timeOf(all.at(-1)!)).length;
  expect(all.length + record.skipped - skippedLater).toBe(due.length);
}

it('a scheduler whose Redis is lost with all in it starts what is due once it is back, and nothing twice', async () => {
  const { redis, fleet, out, since, jobs } = await schedule();
  const scheduler = fleet.scheduler(jobs);
  await until(async () => /starting the run/.test(scheduler.stderr), 'a run');
  await redis.kill();
  await until(async () => /is unavailable/.test(scheduler.stderr), 'the scheduler to notice');
  const lost = new Date();
  await until(async () => dueTimes(TICK, lost, new Date()).length > 1, 'two times without Redis');
  await redis.boot();
  const back = new Date();
  await until(async () => /Redis is back/.test(scheduler.stderr), 'the scheduler to notice');
  await until(async () => {
    const later = (await runsIn(out)).find((run) => run > scheduledRunId('tick', back));
    return later !== undefined && (await verifyRun(join(out, later), {})).ok;
  }, 'the end of a run that was due later');
  scheduler.kill('SIGTERM');
  expectStatus(await scheduler.finished(), 0);
  await expectEachTimeOnce(out, since);
});
