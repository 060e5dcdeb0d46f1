import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi, afterEach } from 'vitest';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { claim, newRun, resultOf, shardOf, signal, work } from '../run-fixture.ts';

afterEach(() => vi.useRealTimers());

const at = (seconds: number): Date => new Date(Date.parse('2026-11-21T02:00:00Z') + 1000 * seconds);

describe('the time a run took', () => {
  it('does not count that it lay dead, and begins with the feeder of a fleet', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const results = [0, 1, 2].map((shard) => resultOf(shardOf(shard, [shard])));
    const run = await newRun();
    vi.setSystemTime(at(10));
    const first = await claim(run);
    vi.setSystemTime(at(12));
    await first.commit(results[0]!);
    await first.close();
    // Two days later a feeder begins, and its sink claims the log with the first result; another takes over.
    vi.setSystemTime(at(172_803));
    const second = await claim(run, { since: at(172_800).toISOString() });
    vi.setSystemTime(at(172_804));
    await second.commit(results[1]!);
    await second.close();
    vi.setSystemTime(at(172_805));
    const third = await claim(run, { since: at(172_800).toISOString() });
    vi.setSystemTime(at(172_806));
    await work(run.dir, third, results);
    const summary = await finishRun(third, signal);
    await third.close();
    expect(summary.seconds).toBe(8);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
    const path = join(run.dir, 'summary.json');
    await writeFile(path, (await readFile(path, 'utf8')).replace('"seconds": 8', '"seconds": 9'));
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false });
  });
});
