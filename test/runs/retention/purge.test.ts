import type * as fs from 'node:fs/promises';
import { cp, lstat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { userOfProcess } from '../../../src/runs/trust/append-entry.ts';
import { readManifest } from '../../../src/record/manifest/manifest.ts';
import { writePurged } from '../../../src/record/purged.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { FeedClaim } from '../../../src/runs/control/feed-claim.ts';
import { openRun } from '../../../src/runs/open-run.ts';
import { holdRun, releaseRun } from '../../../src/runs/retention/hold.ts';
import { type PurgeResult, purgeRuns } from '../../../src/runs/retention/purge-runs.ts';
import { temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { problemOf } from '../../record/run-fixture.ts';
import { judgedRun, NEVER } from '../../helpers/judged-run.ts';
import { filesOf } from '../../helpers/run-directory.ts';

/** Calls of the file system until the process is gone; from then on every call fails. */
let left = Infinity;

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof fs>();
  const counted =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>) =>
    async (...args: A): Promise<R> => {
      if (--left < 0) throw new Error('killed');
      return work(...args);
    };
  return { ...real, open: counted(real.open), rename: counted(real.rename), rm: counted(real.rm) };
});

const MONTH_MS = 30 * 24 * 3_600_000;
const NOW = new Date(Date.now() + MONTH_MS + 24 * 3_600_000);

type Options = Parameters<typeof purgeRuns>[1];

async function purge(dirs: readonly string[], options: Partial<Options> = {}): Promise<PurgeResult[]> {
  const about = { by: userOfProcess(), now: NOW, olderThanMs: MONTH_MS, dryRun: false, signal: NEVER };
  const results: PurgeResult[] = [];
  for await (const result of purgeRuns(dirs, { ...about, ...options })) results.push(result);
  return results;
}

const leftOver = async (dir: string): Promise<string[]> =>
  (await filesOf(dir)).filter((path) => !path.startsWith('control/'));

/** What is left of a run without reviews. */
const KEPT = [
  ...['log/0001-commits.jsonl', 'manifest.json', 'manifest.sha256', 'plan.jsonl', 'purged.json'],
  ...['run.json', 'summary.json'],
];

/** A finished run in a folder of its own, with a report and an index. */
async function finishedRun(): Promise<string> {
  const folder = await temporaryFolder();
  await writeFiles(folder, { 'a.csv': 'id,text\n1,HATE\n2,fine\n3,RESTRICTED\n' });
  const { dir } = await judgedRun(folder, join(folder, 'a.csv'), { formats: ['jsonl', 'csv'] });
  await writeFiles(dir, { 'report.html': '<p>', 'review/index-1.duckdb': 'x' });
  return dir;
}

describe('a purge', () => {
  test('that is killed at any step leaves a run that is whole or purged, and the next one finishes it', async () => {
    const template = await finishedRun();
    const copies = await temporaryFolder();
    let steps = 0;
    for (; ; steps++) {
      const dir = join(copies, String(steps), basename(template));
      await cp(template, dir, { recursive: true, preserveTimestamps: true });
      left = steps;
      const [result] = await purge([dir]);
      const done = left >= 0;
      left = Infinity;
      const report = await verifyRun(dir);
      const isSound = report.ok || 'purged' in report;
      expect(isSound, `killed after ${steps} calls: ${JSON.stringify(report)}`).toBe(true);
      if (done) {
        expect(result).toMatchObject({ outcome: 'purged', reason: null, foreign: [] });
        break;
      }
      await purge([dir]);
      expect(await leftOver(dir)).toEqual(KEPT);
    }
    // Deletions alone are thirteen.
    expect(steps).toBeGreaterThan(15);
  });

  test('keeps what tells head and counts, and says so', async () => {
    const dir = await finishedRun();
    const before = await verifyRun(dir);
    await purge([dir]);
    expect(await leftOver(dir)).toEqual(KEPT);
    const by = userOfProcess();
    const at = NOW.toISOString();
    expect(await verifyRun(dir)).toMatchObject({
      ...before,
      ok: false,
      purged: { at, by },
      problem: `purged on ${at.slice(0, 10)} by ${by}; the head and counts are kept`,
    });
    expect((await purge([dir]))[0]).toMatchObject({ outcome: 'done' });
    await expect(openRun(dir, NEVER)).rejects.toMatchObject({ kind: 'purged', exitStatus: 6 });
    expect(await problemOf(dir, { head: 'f'.repeat(64) })).toContain('not the expected one');
    await writeFile(join(dir, 'summary.json'), '{}');
    expect(await problemOf(dir)).toContain('summary.json');
  });

  test('leaves young and held runs, and whatever else is in the directory', async () => {
    const dir = await finishedRun();
    expect(await purge([dir], { now: new Date() })).toMatchObject([{ outcome: 'young' }]);
    await holdRun(dir, { at: '2026-11-01T00:00:00.000Z', by: 'mia', reason: 'a lawsuit' });
    const held = { outcome: 'kept', reason: 'held by mia since 2026-11-01: a lawsuit', bytes: 0 };
    expect(await purge([dir])).toMatchObject([held]);
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
    await releaseRun(dir);
    await writeFile(join(dir, 'notes.txt'), 'mine');
    const whole = await leftOver(dir);
    const [dry] = await purge([dir], { dryRun: true });
    expect(dry).toMatchObject({ outcome: 'purged', foreign: ['notes.txt'] });
    expect(await leftOver(dir)).toEqual(whole);
    expect(await purge([dir])).toEqual([dry]);
    expect((await lstat(join(dir, 'notes.txt'))).size).toBe(4);
    await expect(holdRun(dir, { at: '', by: '', reason: null })).rejects.toMatchObject({ kind: 'purged' });
  });

  test('and a process that begins to work on the run do not both get it', async () => {
    const dir = await finishedRun();
    // The purge has written its note, and looks for claims next.
    const { run, pass, chain_head } = await readManifest(dir);
    await writePurged(dir, { schema: 1, run, at: NOW.toISOString(), by: 'mia', pass, chain_head });
    await expect(FeedClaim.take(dir, { fleet: false })).rejects.toMatchObject({ kind: 'purged' });
  });
});
