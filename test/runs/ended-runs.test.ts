import { readFile, rm, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import { setMarker } from '../../src/runs/control/control-files.ts';
import { FeedClaim } from '../../src/runs/control/feed-claim.ts';
import type { Run } from '../../src/runs/create-run.ts';
import { PlanWriter } from '../../src/ingest/plan/plan-file.ts';
import { fileHandles } from '../helpers/file-handles.ts';
import { runOver, go, judge, rows } from './small-run.ts';

/** A judge that lets something happen once, when it is asked for the first time. */
function judgeThat(happens: () => Promise<void>): Judge {
  const answering = judge();
  let once: Promise<void> | null = null;
  const ask: Judge['judge'] = async (...request) => {
    await (once ??= happens());
    return answering.judge(...request);
  };
  return { ...answering, judge: ask };
}

let run: Run;

beforeEach(async () => {
  ({ run } = await runOver({ 'a.csv': rows('a', 0, 2000) }));
});

afterEach(() => vi.restoreAllMocks());

it('a run that is paused from the start has nothing judged, and is interrupted when it is cancelled', async () => {
  await setMarker(run.dir, 'paused');
  let asked = 0;
  const said: string[] = [];
  const say = (line: string): void => {
    said.push(line);
    if (line === 'the run is paused') void setMarker(run.dir, 'cancelled');
  };
  const going = go(run, judge({ refuse: () => (asked++, null) }), { say });
  await expect(going).rejects.toMatchObject({ kind: 'interrupted' });
  expect(asked).toBe(0);
  expect(said).toContain('the run is paused');
});

it.each([
  ['its directory is deleted', '.', 'run directory was deleted or moved'],
  ['its log is deleted', 'log', 'verdict log was deleted'],
])('a run whose files are taken away while it is worked on ends in words when %s', async (_, name, words) => {
  const message = expect.stringContaining(words) as string;
  const taken = judgeThat(() => rm(join(run.dir, name), { recursive: true }));
  await expect(go(run, taken)).rejects.toMatchObject({ kind: 'service', message });
});

it('a run that another process takes over says so, whatever it reads of what the other one writes', async () => {
  const openPlan = PlanWriter.open.bind(PlanWriter);
  vi.spyOn(PlanWriter, 'open').mockImplementationOnce(async (...given) => {
    const plan = await openPlan(...given);
    await expect(go(run, judge({ answers: 0 }))).rejects.toMatchObject({ kind: 'service' });
    return plan;
  });
  await expect(go(run, judge())).rejects.toMatchObject({ kind: 'superseded' });
});

it.each([
  ['a full disk', { code: 'ENOSPC', errno: -28 }],
  ['a full quota', { code: 'Unknown system error -122', errno: -constants.errno.EDQUOT }],
])(
  'a run that is resumed on a full disk waits for room, then ends in words, and leaves alone whoever feeds it: %s',
  async (_, full) => {
    const living = await FeedClaim.take(run.dir, { fleet: true });
    vi.spyOn(await fileHandles(run.dir), 'write').mockRejectedValue(Object.assign(new Error('full'), full));
    const said: string[] = [];
    const going = go(run, judge(), { say: (line) => said.push(line) });
    await expect(going).rejects.toMatchObject({ kind: 'service' });
    vi.restoreAllMocks();
    expect(said).toEqual([expect.stringContaining('The disk is full')]);
    await living.assertCurrent();
    await living.release();
    expect((await go(run, judge())).summary).toMatchObject({ status: 'finished' });
  },
);

it('the right to feed a run is not claimed by a file that there was no room to write', async () => {
  const living = await FeedClaim.take(run.dir, { fleet: true });
  await writeFile(join(run.dir, 'control', 'feed-0002.json'), '');
  await living.assertCurrent();
  const next = await FeedClaim.take(run.dir, { fleet: true });
  expect(next.epoch).toBe(3);
  await expect(living.assertCurrent()).rejects.toMatchObject({ kind: 'superseded' });
  expect(await readFile(join(run.dir, 'control', 'feed-0003.json'), 'utf8')).toContain('"fleet":true');
  await living.release();
  await next.release();
});
