import { open, readFile, utimes, writeFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import type { ItemCode } from '../../src/domain/item-error.ts';
import type { Judge } from '../../src/moderate/parts/judge-parts.ts';
import type { GuardRequest } from '../../src/domain/request.ts';
import { findUnfinished, openRun } from '../../src/runs/open-run.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { folderWith } from '../helpers/cli.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import { createdRun, go, judge, rows, runOver, never, type Run } from './small-run.ts';

describe('a run that is continued', () => {
  it('plans on where it stopped, with lanes interleaved, until everything has its outcome', async () => {
    const lines = Array.from({ length: 300 }, (_, row) =>
      JSON.stringify(
        row % 3 === 0 ? { messages: [{ role: 'user', content: `${row}` }] } : { text: `${row}` },
      ),
    );
    const { run } = await runOver({ 'a.jsonl': lines.join('\n'), 'b.txt': 'a note' });
    for (const answers of [25, 0, 60, 90]) {
      await expect(go(run, judge({ answers }))).rejects.toMatchObject({ kind: 'service' });
    }
    expect((await go(run, judge())).summary).toMatchObject({ items: 301, verdicts: 301 });
    expect((await outcomes(run.dir)).map(({ seq }) => seq)).toEqual([...Array(301).keys()]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, items: 301 });
  });

  it('keeps what was judged of a table that changed, and ends what was planned, and the rest as one item', async () => {
    const tables = { 'uploads/a.csv': rows('a', 0, 20_000), 'uploads/b.csv': rows('b', 0, 3) };
    const folder = await folderWith({ ...tables, 'uploads/c.txt': 'a note' });
    const uploads = join(folder, 'uploads');
    const path = join(uploads, 'a.csv');
    await utimes(path, 1, 1);
    const run = await createdRun(folder);
    await expect(go(run, judge({ answers: 25 }))).rejects.toMatchObject({ kind: 'service' });
    expect(await findUnfinished({ ...run, dir: folder })).toMatchObject({ dir: run.dir });
    const plan = await jsonLines<{ items?: number }>(join(run.dir, 'plan.jsonl'));
    const planned = plan.reduce((sum, { items = 0 }) => sum + items, 0);
    expect(planned).toBeLessThan(20_000);
    // Edited in place, and its modification time put back.
    await writeFile(path, rows('A', 0, 20_000));
    await utimes(path, 1, 1);
    await writeFile(join(uploads, 'c.txt'), 'another note');
    await writeFile(join(uploads, 'late.csv'), rows('late', 0, 3));
    await go(run, judge({ model: 'b' }));
    expect(await findUnfinished({ ...run, dir: folder })).toBeNull();

    const lines = await outcomes(run.dir);
    const kept = lines.filter(({ fingerprint }) => fingerprint === lines[0]!.fingerprint).length;
    const ended: Record<string, number> = {};
    for (const { source, error } of lines) {
      const how = `${source.path} ${error?.code ?? 'ok'}`;
      ended[how] = (ended[how] ?? 0) + 1;
    }
    expect(ended).toEqual({
      'uploads/a.csv ok': kept,
      'uploads/a.csv SOURCE_CHANGED': planned + 1 - kept,
      'uploads/b.csv ok': 3,
      'uploads/c.txt SOURCE_CHANGED': 1,
    });
    expect(lines.map(({ seq }) => seq)).toEqual([...lines.keys()]);
    const hashes = await readFile(join(run.dir, 'source-hashes.jsonl'), 'utf8');
    expect(hashes).toMatch(/^\{"source":0,"sha256":null\}\n\{"source":1,"sha256":"[0-9a-f]{64}"\}\n/);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });

  it.each([
    ['fewer', (text: string) => text.replaceAll('\n', ' ').replace(' ', '\n')],
    ['more', (text: string) => text.replaceAll(',text', '\n,tex')],
  ])('holds to the plan when a file that looks unchanged gives %s items', async (_, change) => {
    const text = rows('a', 0, 95);
    const folder = await folderWith({ 'uploads/a.csv': text, 'uploads/b.csv': rows('b', 0, 40) });
    const path = join(folder, 'uploads', 'a.csv');
    await utimes(path, 1_700_000_000, 1_700_000_000);
    const run = await createdRun(folder);
    await expect(go(run, judge({ answers: 100 }))).rejects.toThrow();
    const committed = (await jsonLines(join(run.dir, 'log', '0001-000001.jsonl'))).length;
    expect(committed).toBeGreaterThan(0);
    const file = await open(path, 'r+');
    await file.write(change(text).slice(0, text.length).padEnd(text.length));
    await file.close();
    await utimes(path, 1_700_000_000, 1_700_000_000);
    const { summary } = await go(run, judge());
    const lines = await outcomes(run.dir);
    expect(summary.items).toBe(lines.length);
    const of = (name: string) => lines.filter((line) => line.source.path === `uploads/${name}`);
    const statuses = of('a.csv').map((line) => line.status);
    expect(new Set(statuses.slice(0, committed))).toEqual(new Set(['ok']));
    expect(of('b.csv').map((line) => line.id)).toEqual(Array.from({ length: 40 }, (_, row) => `b${row}`));
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
  });
});

describe('a retry', () => {
  const flaky = (request: GuardRequest): ItemCode | null =>
    'text' in request && /[05]$/.test(request.text) ? 'TIMEOUT' : null;

  it('judges again only what may pass, and leaves a finished run alone when no guard is there', async () => {
    const { run } = await runOver({ 'a.csv': `${rows('a', 0, 95)}short\n`, 'b.csv': rows('b', 100, 30) });
    expect((await go(run, judge({ refuse: flaky }))).summary).toMatchObject({ errors: 26 });
    const retry = (by: Judge | Failure) => go(run, by, { retry: true });
    await expect(retry(new Failure('service', 'no guard'))).rejects.toMatchObject({ kind: 'service' });
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });

    let asked = 0;
    const counting = judge({ refuse: () => (asked++, null) });
    expect((await retry(counting)).summary).toMatchObject({ items: 126, errors: 1, pass: 2 });
    expect(asked).toBe(25);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true, errors: 1 });
    expect(await retry(new Failure('service', 'not asked'))).toMatchObject({ worked: false });
  });
});

async function finishedRun(): Promise<Run> {
  const { run } = await runOver({ 'a.csv': 'text\na note\n', 'b.csv': 'text\nb note\n' });
  expect((await go(run, judge())).summary).toMatchObject({ status: 'finished' });
  return run;
}

describe('a run directory', () => {
  it('whose list of sources was shortened is not opened', async () => {
    const { dir } = await finishedRun();
    const path = join(dir, 'sources.jsonl');
    const [first] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, `${first}\n`);
    await expect(openRun(dir, never)).rejects.toThrow(/sources\.jsonl is not as it was/);
    await writeFile(path, `${first!.replace('"corpus":0', '"corpus":1')}\n`);
    await expect(openRun(dir, never)).rejects.toThrow(/sources\.jsonl line 1 is damaged/);
    expect(await verifyRun(dir)).toMatchObject({ ok: false });
    await rm(path);
    await expect(openRun(dir, never)).rejects.toThrow(/sources\.jsonl cannot be read/);
  });

  it('that lost any of its final files is made whole by resume, from the log', async () => {
    const run = await finishedRun();
    const names = ['verdicts.jsonl', 'verdicts.parquet', 'summary.json', 'manifest.json', 'manifest.sha256'];
    for (const name of names) {
      await rm(join(run.dir, name));
      expect(await finishedSummary(run.dir), name).toBeNull();
      await go(run, judge({ answers: 0 }));
      expect(await verifyRun(run.dir), name).toMatchObject({ ok: true, items: 2 });
    }
  });
});
