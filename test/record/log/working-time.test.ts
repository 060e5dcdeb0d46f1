import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi, afterEach } from 'vitest';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { claim, newRun, resultOf, shardOf, signal, work } from '../run-fixture.ts';

afterEach(() => vi.useRealTimers());

const at = (seconds: number): Date => new Date(Date.parse('2026-11-21T02:00:00Z') + 1000 * seconds);

/** Lets time pass for all clocks. */
const pass = (seconds: number): void => void vi.advanceTimersByTime(1000 * seconds);

describe('the time a run took', () => {
  it('does not count that it lay dead, begins with the feeder of a fleet, and ends with the outcome files', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: at(10) });
    const results = [0, 1, 2].map((shard) => resultOf(shardOf(shard, [shard])));
    const run = await newRun();
    const first = await claim(run);
    pass(2);
    await first.commit(results[0]!);
    await first.close();
    // Two days later a feeder begins, and its sink claims the log with the first result; another takes over.
    vi.setSystemTime(at(172_803));
    const second = await claim(run, { since: at(172_800).toISOString() });
    pass(1);
    await second.commit(results[1]!);
    await second.close();
    pass(1);
    const third = await claim(run, { since: at(172_800).toISOString() });
    pass(1);
    await work(run.dir, third, results);
    pass(3);
    const summary = await finishRun(third, signal);
    await third.close();
    expect(summary.seconds).toBe(11);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
    const path = join(run.dir, 'summary.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"seconds": 11', '"seconds": 9'));
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false });
  });

  it('is not changed by a clock that is set meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: at(0) });
    const run = await newRun();
    const log = await claim(run);
    pass(4);
    vi.setSystemTime(at(315_360_000));
    await work(run.dir, log, [resultOf(shardOf(0, [0]))]);
    vi.setSystemTime(at(-86_400));
    pass(1);
    const { seconds } = await finishRun(log, signal);
    await log.close();
    expect(seconds).toBe(5);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });
});
