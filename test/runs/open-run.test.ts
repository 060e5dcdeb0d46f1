import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openRun } from '../../src/runs/open-run.ts';
import { finishedSummary } from '../../src/record/summary/finished-summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const signal = new AbortController().signal;

async function finishedRun(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'uploads'));
  for (const name of ['a', 'b'])
    await writeFile(join(folder, 'uploads', `${name}.csv`), `text\n${name} note\n`);
  expect((await guardsweep(['enqueue', 'uploads', '--quiet'], { cwd: folder })).status).toBe(0);
  return onlyRun(join(folder, 'runs'));
}

describe('a run directory', () => {
  it('whose list of sources was shortened is not opened', async () => {
    const run = await finishedRun();
    const path = join(run, 'sources.jsonl');
    const [first] = (await readFile(path, 'utf8')).split('\n');
    await writeFile(path, `${first}\n`);
    await expect(openRun(run, signal)).rejects.toThrow(/sources\.jsonl is not as it was/);
    await writeFile(path, `${first!.replace('"corpus":0', '"corpus":1')}\n`);
    await expect(openRun(run, signal)).rejects.toThrow(/sources\.jsonl line 1 is damaged/);
    expect(await verifyRun(run)).toMatchObject({ ok: false });
    await rm(path);
    await expect(openRun(run, signal)).rejects.toThrow(/sources\.jsonl cannot be read/);
  });

  it('that lost any of its final files is made whole by resume, from the log', async () => {
    const run = await finishedRun();
    for (const name of [
      'verdicts.jsonl',
      'flagged.csv',
      'summary.json',
      'manifest.json',
      'manifest.sha256',
    ]) {
      await rm(join(run, name));
      expect(await finishedSummary(run), name).toBeNull();
      expect(await guardsweep(['resume', run]), name).toMatchObject({ status: 0 });
      expect(await verifyRun(run), name).toMatchObject({ ok: true, items: 2 });
    }
  });
});
