import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { Forecast } from '../../src/preflight/preflight.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { closeAfterEach, guard } from '../helpers/guards/guard-pool.ts';

closeAfterEach();

it('preflight writes nothing, and enqueue then does what was forecast', async () => {
  const folder = await temporaryFolder();
  await writeComments(folder, 'comments.csv', 50);
  const { address } = await guard();
  const flags = ['comments.csv', '--guard', address, '--json'];
  const done = await guardsweep(['preflight', ...flags], { cwd: folder });
  expect(done.status, done.stderr).toBe(0);
  const forecast = JSON.parse(done.stdout) as Forecast;
  expect(existsSync(join(folder, 'runs'))).toBe(false);

  const run = await guardsweep(['enqueue', ...flags], { cwd: folder });
  expect(run.status, run.stderr).toBe(0);
  const summary = JSON.parse(run.stdout) as Summary;
  expect([summary.items, summary.verdicts]).toEqual([forecast.items, forecast.to_judge]);
  expect(summary.guards).toMatchObject([{ endpoint: address }]);

  const refused = await guardsweep(['preflight', 'comments.csv', '--write-job', 'job.yaml'], { cwd: folder });
  expect(refused).toMatchObject({ status: 2 });
  expect(refused.stderr).toContain('docs/job-files.md has a job file to copy');
});
