import { readdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Failure } from '../../../src/domain/failure.ts';
import { readScheduledJob } from '../../../src/fleet/scheduler/job-folder.ts';
import { Scheduler } from '../../../src/fleet/scheduler/scheduler.ts';
import { recordPath } from '../../../src/fleet/scheduler/schedule-record.ts';
import { viewSchedule } from '../../../src/fleet/scheduler/view-schedule.ts';
import { readPurged } from '../../../src/record/purged.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { FeedClaim } from '../../../src/runs/control/feed-claim.ts';
import { openRun } from '../../../src/runs/open-run.ts';
import { prepareRun } from '../../../src/runs/prepare-run.ts';
import { holdRun } from '../../../src/runs/retention/hold.ts';
import { schedulerMetrics } from '../../../workers/scheduler-metrics.ts';
import { folderWith } from '../../helpers/cli.ts';
import { gate } from '../../helpers/guards/gate.ts';
import { go, judge, never } from '../../runs/small-run.ts';

const jobFile = (schedule: string): string =>
  `name: nightly\nsources: [{ path: ./notes }]\nguard: ['embedded:']\noutput: { dir: ./runs }\nschedule: ${schedule}\n`;
const NOTES = { 'notes/a.txt': 'hello' };
const NIGHTLY = jobFile('{ cron: 0 2 * * *, timezone: Europe/London }');

/** A folder of job files, a clock that the test sets, and schedulers whose runs are judged in this process. */
class Rehearsal {
  readonly said: string[] = [];
  /** Schedules of which a run could not be purged, once for each time. */
  readonly notPurged: string[] = [];
  readonly metrics = schedulerMetrics(async () => [await this.view()]);
  readonly folder: string;
  readonly #context;
  #now = new Date(0);
  #scheduler: Scheduler | null = null;
  /** Called with a run that has a directory, before it is judged. */
  judging: (dir: string) => Promise<void> = async () => {};
  /** Called before a run gets its directory. */
  starting: () => Promise<void> = async () => {};

  constructor(folder: string) {
    this.folder = folder;
    this.#context = { cwd: folder, env: {}, fleet: true };
  }

  /** A scheduler that is started at this time. One that was there before looks at nothing any more. */
  async boot(time: string): Promise<void> {
    const scheduler = new Scheduler({
      ...this.#context,
      folder: this.folder,
      now: () => this.#now,
      start: async (job, runId) => {
        await this.starting();
        const options = { keyFile: null, drain: never, report: () => {}, runId };
        const run = await (await prepareRun(job.resolved.config, options))();
        return this.#judge(run.dir);
      },
      resume: (_job, dir) => this.#judge(dir),
      skipped: this.metrics.skipped,
      changed: () => {},
      signal: never,
      purgeFailed: (name) => void this.notPurged.push(name),
      say: (line) => void this.said.push(line),
    });
    this.#scheduler = scheduler;
    this.#setClock(time);
    await scheduler.open();
    await this.at(time);
  }

  async #judge(dir: string): Promise<number> {
    const claim = await FeedClaim.take(dir, { fleet: true });
    try {
      await this.judging(dir);
      await go(await openRun(dir, never), judge());
      return 0;
    } finally {
      await claim.release();
    }
  }

  #setClock(time: string): void {
    this.#now = new Date(time);
    if (vi.isFakeTimers()) vi.setSystemTime(this.#now);
  }

  /** Looks at the folder and the clock at this time, and waits for what ends. */
  async at(time: string, { wait = true } = {}): Promise<void> {
    this.#setClock(time);
    await this.#scheduler!.poll();
    if (wait) await this.#scheduler!.ended();
  }

  readonly write = (text: string) => writeFile(join(this.folder, 'nightly.yaml'), text);
  readonly job = async () => (await readScheduledJob(join(this.folder, 'nightly.yaml'), this.#context))!;
  readonly view = async () => viewSchedule(await this.job(), this.#now, never);
  /** Due times that have a run, in order. */
  readonly runs = async () => (await this.dirs()).map((dir) => basename(dir).slice(0, 16));

  /** The directories of the runs, in order; what is left of a killed start does not count. */
  async dirs(): Promise<string[]> {
    const out = join(this.folder, 'runs');
    const names = (await readdir(out).catch(() => [])).filter((name) => !name.startsWith('.'));
    return names.sort().map((name) => join(out, name));
  }
}

async function rehearsal(job = NIGHTLY): Promise<Rehearsal> {
  return new Rehearsal(await folderWith({ 'nightly.yaml': job, ...NOTES, 'policies.txt': '-' }));
}

it('three days: a night on time, a missed one, an overlap, a changed and a removed file, old runs', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const nightly = (cron: string): string => jobFile(`{ cron: ${cron}, timezone: Europe/London, keep: 2d }`);
  const days = await rehearsal(nightly('0 2 * * *'));
  await days.boot('2026-11-21T01:59:50Z');
  await days.at('2026-11-21T02:00:05Z');
  await days.at('2026-11-21T02:00:10Z');
  expect(await days.runs()).toEqual(['20261121T020000Z']);
  expect(await days.view()).toMatchObject({
    next: '2026-11-22T02:00:00.000Z',
    last: { due: '2026-11-21T02:00:00.000Z', state: 'finished', status: 0 },
    last_success: '2026-11-21T02:00:05.000Z',
    skipped: 0,
  });

  // The second night, no scheduler is there; the next one makes up for it once.
  await days.boot('2026-11-22T09:00:00Z');
  await days.at('2026-11-22T09:00:05Z');
  expect(await days.runs()).toEqual(['20261121T020000Z', '20261122T020000Z']);

  const second = (await days.dirs())[1]!;
  await holdRun(second, { at: '2026-11-22T10:00:00.000Z', by: 'mia', reason: 'case 4711' });

  // The file is changed during the day: times before that do not count.
  await days.write(nightly('"0,30 2 * * *"'));
  await days.at('2026-11-22T12:00:00Z');
  expect(await days.view()).toMatchObject({ next: '2026-11-23T02:00:00.000Z' });

  // The third night, the first run is not over when the second is due. After it, the first night is old.
  const slow = gate();
  days.judging = () => slow.opened;
  await days.at('2026-11-23T02:00:00Z', { wait: false });
  await days.at('2026-11-23T02:30:00Z', { wait: false });
  slow.open();
  await days.at('2026-11-23T02:50:00Z');
  expect(await days.runs()).toEqual(['20261121T020000Z', '20261122T020000Z', '20261123T020000Z']);
  const overlap = { due: '2026-11-23T02:30:00.000Z', reason: 'overlap' };
  expect(await days.view()).toMatchObject({ skipped: 1, skips: [overlap] });

  await rm(join(days.folder, 'nightly.yaml'));
  await days.at('2026-11-24T02:00:00Z');
  expect(await days.runs()).toHaveLength(3);
  // Put back later, it begins again. All runs are old, but one is held.
  await days.write(nightly('0 2 * * *'));
  await days.at('2026-11-25T12:00:00Z');
  await days.at('2026-11-25T12:00:05Z');
  const by = 'schedule nightly';
  expect(await Promise.all((await days.dirs()).map(readPurged))).toMatchObject([
    { by, at: '2026-11-23T02:50:00.000Z' },
    null,
    { by, at: '2026-11-25T12:00:00.000Z' },
  ]);
  expect(await verifyRun(second)).toMatchObject({ ok: true });
  expect(await days.view()).toMatchObject({ last: { state: 'finished', status: 0 } });
  expect(days.notPurged).toEqual([]);
  // What the alerts of docs/operations look at.
  const values = (await days.metrics.metrics.registry.metrics()).matchAll(/^guardsweep_schedule_.*$/gm);
  expect([...values].map(([line]) => line)).toEqual([
    'guardsweep_schedule_last_success_timestamp_seconds{schedule="nightly"} 1795402200',
    'guardsweep_schedule_last_status{schedule="nightly"} 0',
    'guardsweep_schedule_next_timestamp_seconds{schedule="nightly"} 1795658400',
    'guardsweep_schedule_skipped_total{schedule="nightly",reason="overlap"} 1',
  ]);
});

describe('nights that were missed', () => {
  it('are caught up at most once, and counted', async () => {
    const days = await rehearsal();
    await days.boot('2026-11-20T12:00:00Z');
    await days.boot('2026-11-25T09:00:00Z');
    expect(await days.runs()).toEqual(['20261125T020000Z']);
    const { skipped, skips } = await days.view();
    expect(skipped).toBe(4);
    expect(skips.at(-1)).toEqual({ due: '2026-11-24T02:00:00.000Z', reason: 'missed' });
  });

  it('are skipped where the job says so, but not for a scheduler that is a moment late', async () => {
    const days = await rehearsal(jobFile('{ cron: 0 2 * * *, catchUp: never }'));
    await days.boot('2026-11-20T12:00:00Z');
    await days.boot('2026-11-21T09:00:00Z');
    expect(await days.runs()).toEqual([]);
    const missed = { due: '2026-11-21T02:00:00.000Z', reason: 'missed' };
    expect(await days.view()).toMatchObject({ skips: [missed] });
    await days.boot('2026-11-22T02:00:30Z');
    expect(await days.runs()).toEqual(['20261122T020000Z']);
  });

  it('are made up for after the record was damaged, but not of a schedule that is new', async () => {
    const days = await rehearsal();
    await days.boot('2026-11-21T12:00:00Z');
    expect(await days.runs()).toEqual([]);
    await days.at('2026-11-22T02:00:00Z');
    const { out, name } = await days.job();
    await writeFile(recordPath(out, name), '{"torn');
    await days.boot('2026-11-23T09:00:00Z');
    expect(await days.runs()).toEqual(['20261122T020000Z', '20261123T020000Z']);
  });
});

it('two schedulers at once start a run once', async () => {
  const days = await rehearsal();
  await days.boot('2026-11-21T01:00:00Z');
  const both = gate();
  days.starting = () => both.opened;
  await days.at('2026-11-21T02:00:00Z', { wait: false });
  const other = new Rehearsal(days.folder);
  await other.boot('2026-11-21T02:00:00Z');
  expect(await other.view()).toMatchObject({ last: { status: 0 } });
  both.open();
  await days.at('2026-11-21T02:00:10Z');
  expect(await days.runs()).toHaveLength(1);
  expect(await days.view()).toMatchObject({ last: { status: 0, message: null }, skipped: 0 });
});

it('a run that cannot be started is tried again each minute, until it can', async () => {
  const days = await rehearsal();
  await days.boot('2026-11-21T01:00:00Z');
  let tries = 0;
  days.starting = async () => {
    if (++tries < 3) throw new Failure('service', 'Redis is away');
  };
  await days.at('2026-11-21T02:00:00Z');
  await days.at('2026-11-21T02:00:05Z');
  expect(tries).toBe(1);
  expect(await days.view()).toMatchObject({ last: { state: 'failed', status: 4, message: 'Redis is away' } });
  await days.at('2026-11-21T02:01:05Z');
  await days.at('2026-11-21T02:02:10Z');
  expect(await days.view()).toMatchObject({ last: { state: 'finished', status: 0 } });
});

it('a run that failed is not resumed, and does not keep the next night from starting', async () => {
  const days = await rehearsal();
  await days.boot('2026-11-21T01:00:00Z');
  days.judging = async () => {
    throw new Failure('service', 'no guard is ready');
  };
  await days.at('2026-11-21T02:00:00Z');
  days.judging = async () => {};
  await days.boot('2026-11-21T02:10:00Z');
  const last = { state: 'failed', status: 4, message: 'no guard is ready' };
  expect(await days.view()).toMatchObject({ last });
  await days.at('2026-11-22T02:00:00Z');
  expect(await days.runs()).toHaveLength(2);
  expect(await days.view()).toMatchObject({ last: { state: 'finished', status: 0 }, skipped: 0 });
});

it('an old run that cannot be purged is named once, counted each time, and stops nothing', async () => {
  const days = await rehearsal(jobFile('{ cron: 0 2 * * *, keep: 1d }'));
  await days.boot('2026-11-21T01:00:00Z');
  await days.at('2026-11-21T02:00:00Z');
  const [damaged] = await days.dirs();
  await writeFile(join(damaged!, 'run.json'), '{"torn');
  await days.at('2026-11-21T02:00:05Z');
  await days.at('2026-11-21T12:00:00Z');
  expect(days.notPurged).toEqual(['nightly']);
  await days.at('2026-11-22T02:00:00Z');
  const last = { due: '2026-11-22T02:00:00.000Z', status: 0 };
  expect(await days.view()).toMatchObject({ last, skipped: 0 });
  expect(days.notPurged.length).toBeGreaterThan(1);
  expect(days.said.filter((line) => line.includes(`${basename(damaged!)} is not purged`))).toHaveLength(1);
});

it('a run that somebody started by hand counts as an overlap', async () => {
  const days = await rehearsal();
  await days.boot('2026-11-21T01:00:00Z');
  const { resolved } = await days.job();
  const run = await (await prepareRun(resolved.config, { keyFile: null, drain: never, report: () => {} }))();
  const claim = await FeedClaim.take(run.dir, { fleet: true });
  await days.at('2026-11-21T02:00:00Z');
  const last = { due: null, state: 'running' };
  expect(await days.view()).toMatchObject({ skips: [{ reason: 'overlap' }], last });
  await claim.release();
});

it('a file with a mistake is named, and keeps the schedule that it had', async () => {
  const days = await rehearsal();
  await days.boot('2026-11-21T01:00:00Z');
  await days.write(NIGHTLY.replace('0 2', '0 99'));
  await days.at('2026-11-21T01:30:00Z');
  await days.at('2026-11-21T02:00:00Z');
  expect(await days.runs()).toEqual(['20261121T020000Z']);
  expect(days.said.filter((line) => line.includes('nightly.yaml:5:13: schedule.cron'))).toHaveLength(1);
});

it.each([
  ['a mistake', { 'nightly.yaml': NIGHTLY.replace('0 2', '0 99') }, /nightly\.yaml:5:13: schedule\.cron: /],
  ['no guard', { 'nightly.yaml': NIGHTLY.replace(/guard.*\n/, '') }, /a schedule needs a guard/],
  ['one name twice', { 'nightly.yaml': NIGHTLY, 'z.yaml': NIGHTLY }, /z\.yaml: has the name nightly/],
])('a scheduler does not start with %s', async (_, files, message) => {
  const days = new Rehearsal(await folderWith({ ...NOTES, ...files }));
  await expect(days.boot('2026-11-21T01:00:00Z')).rejects.toThrow(message);
});
