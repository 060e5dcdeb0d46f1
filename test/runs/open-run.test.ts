import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRun } from '../../src/runs/open-run.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { go, judge, never, runOver, type Run } from './small-run.ts';

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
    const names = ['verdicts.jsonl', 'flagged.csv', 'summary.json', 'manifest.json', 'manifest.sha256'];
    for (const name of names) {
      await rm(join(run.dir, name));
      expect(await finishedSummary(run.dir), name).toBeNull();
      await go(run, judge({ answers: 0 }));
      expect(await verifyRun(run.dir), name).toMatchObject({ ok: true, items: 2 });
    }
  });
});
