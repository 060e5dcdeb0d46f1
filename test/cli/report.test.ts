import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith, guardsweep } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';
import { typed } from './terminal.ts';

it('the report of a run is written after a run, outside its record, and again or elsewhere on demand', async () => {
  const cwd = await folderWith({ 'rows.csv': 'id,text\nfirst-id,hello\nsecond-id,I will kill you\n' });
  const enqueued = await guardsweep(['enqueue', 'rows.csv'], { cwd });
  const dir = await onlyRun(join(cwd, 'runs'));
  const path = join(dir, 'report.html');
  expect(enqueued.stderr).toContain(`guardsweep: report: ${path}\n`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const [manifest = ''] = (await readFile(join(dir, 'manifest.sha256'), 'utf8')).split(' ');
  const report = await readFile(path, 'utf8');
  expect(report).toContain(manifest);
  expect(report).toContain('second-id');
  expect(report).not.toContain('I will kill you');
  expect(await verifyRun(dir)).toMatchObject({ ok: true });

  const command = (args: readonly string[]) => typed(args, { context: { cwd } });
  const again = await command(['report', dir]);
  expect([again.status, again.stdout]).toEqual([0, `${path}\n`]);
  const elsewhere = ['report', dir, '--out', join(cwd, 'other.html')];
  expect((await command(elsewhere)).stdout).toBe(`${join(cwd, 'other.html')}\n`);
  const taken = await command(elsewhere);
  expect([taken.status, taken.stderr]).toEqual([2, 'guardsweep: --out: the file already exists\n']);
  const inside = await command(['report', dir, '--out', join(dir, 'other.html')]);
  expect(inside.status).toBe(2);
  expect(await readdir(dir)).not.toContain('other.html');
});
