import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { serveDashboard } from '../../helpers/dashboard.ts';
import { judgedRun } from '../../helpers/judged-run.ts';

test('a folder of reviews that a link has replaced is named with 503, and fails verification', async () => {
  const folder = await temporaryFolder();
  const path = join(folder, 'a.csv');
  await writeFile(path, 'id,text\n1,one\n');
  const run = await judgedRun(folder, path);
  const { fetch } = await serveDashboard({ out: run.out, roots: [folder] });
  const review = join(run.dir, 'review');
  const post = (): Promise<Response> =>
    fetch(`/api/runs/${run.name}/items/0/reviews`, { method: 'POST', body: { decision: 'block' } });
  expect((await post()).status).toBe(200);
  expect((await verifyRun(run.dir)).ok).toBe(true);
  await rename(review, join(folder, 'elsewhere'));
  await symlink(join(folder, 'elsewhere'), review);
  for (const answer of [
    await post(),
    await fetch(`/api/runs/${run.name}/items`, { method: 'POST', body: {} }),
  ]) {
    const { error } = (await answer.json()) as { error: { message: string } };
    expect([answer.status, error.message]).toEqual([503, expect.stringMatching(/^review cannot be read/)]);
  }
  expect(await verifyRun(run.dir)).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/^review cannot be read/) as string,
  });
  await rm(review);
  await mkdir(review);
  await writeFile(join(review, 'reveals.jsonl'), '{"schema":1,"prev":"0","check":"00000000"}\n'.repeat(2));
  expect((await fetch(`/api/runs/${run.name}/items`, { method: 'POST', body: {} })).status).toBe(500);
});
