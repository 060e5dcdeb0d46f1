import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Forecast } from '../../src/preflight/preflight.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { closeAfterEach, guard } from '../helpers/guards/guard-pool.ts';

closeAfterEach();

it('preflight writes a job file and nothing else, and enqueue then does what was forecast', async () => {
  const folder = await temporaryFolder();
  await writeComments(folder, 'comments.csv', 50);
  await writeFile(
    join(folder, 'say "hi": it\'s a #1.txt'),
    'A text in a file with a name that YAML could misread.',
  );
  const { address } = await guard();
  const paths = ['comments.csv', 'say "hi": it\'s a #1.txt'];
  const flags = ['--guard', address, '--name', 'uploads', '--write-job', 'job.yaml', '--json'];
  const done = await guardsweep(['preflight', ...paths, ...flags], { cwd: folder });
  expect(done.status, done.stderr).toBe(0);
  const forecast = JSON.parse(done.stdout) as Forecast;
  expect(existsSync(join(folder, 'runs'))).toBe(false);

  const run = await guardsweep(['enqueue', 'job.yaml', '--json'], { cwd: folder });
  expect(run.status, run.stderr).toBe(0);
  const summary = JSON.parse(run.stdout) as Summary;
  expect([summary.items, summary.verdicts]).toEqual([forecast.items, forecast.to_judge]);
  expect(summary.guards).toMatchObject([{ endpoint: address }]);

  const text = await readFile(join(folder, 'job.yaml'), 'utf8');
  const again = await guardsweep(['preflight', ...paths, ...flags], { cwd: folder });
  expect(again).toMatchObject({ status: 2 });
  expect(again.stderr).toContain('already exists and is not replaced');
  expect(await readFile(join(folder, 'job.yaml'), 'utf8')).toBe(text);
  const inRun = [...flags.slice(0, -2), join(summary.dir, 'job.yaml')];
  const refused = await guardsweep(['preflight', ...paths, ...inRun], { cwd: folder });
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain('is in a run directory');
  // What the comments offer is valid, too.
  const uncommented = text.replace('# text:', 'text:').replaceAll('# audit:', 'audit:');
  await writeFile(join(folder, 'edited.yaml'), uncommented);
  const edited = await guardsweep(['preflight', 'edited.yaml'], { cwd: folder });
  expect(edited, edited.stderr).toMatchObject({ status: 0 });
  expect(edited.stdout).toMatch(/^Corpus: 51 items; 51 to judge/);
});
