import { hash } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { countReviews } from '../../../src/analysis/reviewed-items.ts';
import { encodeLine } from '../../../src/files/checked-line.ts';
import { readRecord } from '../../../src/record/read-record.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { collectReport } from '../../../src/report/html/collect-report.ts';
import { folderWith } from '../../helpers/cli.ts';
import { serveDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';
import { type JudgedRun, judgedRun, NEVER } from '../../helpers/judged-run.ts';
import { exported } from '../../report/export/judged-run.ts';

let folder: string;
let run: JudgedRun;
let decisions: string;

beforeEach(async () => {
  folder = await folderWith({ 'a.csv': 'id,text\n1,one\n2,HATE\n' });
  run = await judgedRun(folder, join(folder, 'a.csv'));
  decisions = join(run.out, '.decisions.jsonl');
});

const post = ({ fetch }: ServedDashboard): Promise<Response> =>
  fetch(`/api/runs/${run.name}/items/0/reviews`, { method: 'POST', body: { decision: 'block' } });

/** What everything that reads the decisions says of them. */
async function answers(served: ServedDashboard): Promise<unknown[]> {
  const pages = `/api/runs/${run.name}`;
  const asked = [
    await post(served),
    await served.fetch(`${pages}/items`, { method: 'POST', body: {} }),
    await served.fetch(`${pages}/reviews`),
    await served.fetch(`${pages}/labels/labels.jsonl`),
  ];
  const said = asked.map(async (answer) => {
    const { error } = (await answer.json()) as { error: { message: string } };
    return [answer.status, error.message];
  });
  return Promise.all(said);
}

describe('the decisions of a folder of runs', () => {
  test.each([
    ['changed', (text: string) => text.replace('"note":""', '"note":"x"')],
    ['removed', (text: string) => text.split('\n').slice(1).join('\n')],
    ['of another form', () => `${encodeLine({ seq: 1, prev: hash('sha256', '.decisions.jsonl') })}\n`],
  ])('are named by whatever reads them when a line was %s', async (_, change) => {
    const served = await serveDashboard({ out: run.out, roots: [folder] });
    for (let count = 0; count < 3; count++) expect((await post(served)).status).toBe(200);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
    await writeFile(decisions, change(await readFile(decisions, 'utf8')));
    const named = expect.stringMatching(/^\.decisions\.jsonl /) as string;
    const later = await serveDashboard({ out: run.out, roots: [folder] });
    for (const answer of await answers(later)) expect(answer).toEqual([500, named]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false, problem: named });
    await expect(collectReport(run.dir, NEVER)).rejects.toThrow(/^\.decisions\.jsonl/);
    const counted = countReviews({ dir: run.dir, record: await readRecord(run.dir) }, NEVER);
    await expect(counted).rejects.toThrow(/^\.decisions\.jsonl/);
    expect((await exported(folder, run.dir, '--clean', 'clean.csv')).stderr).toContain('.decisions.jsonl');
  });

  test('are neither read nor written through a link, nor where others can write', async () => {
    const served = await serveDashboard({ out: run.out, roots: [folder] });
    expect((await post(served)).status).toBe(200);
    await rename(decisions, join(folder, 'elsewhere'));
    await symlink(join(folder, 'elsewhere'), decisions);
    const before = await readFile(join(folder, 'elsewhere'));
    const refused = expect.stringMatching(/^\.decisions\.jsonl cannot be read/) as string;
    for (const answer of await answers(served)) expect(answer).toEqual([503, refused]);
    expect(await verifyRun(run.dir)).toMatchObject({ ok: false, problem: refused });
    expect(await readFile(join(folder, 'elsewhere'))).toEqual(before);
    await rm(decisions);
    await chmod(join(run.dir, 'review'), 0o777);
    expect((await post(await serveDashboard({ out: run.out, roots: [folder] }))).status).toBe(403);
  });
});

test('a folder of looks that a link has replaced fails verification', async () => {
  await mkdir(join(folder, 'elsewhere'));
  await symlink(join(folder, 'elsewhere'), join(run.dir, 'review'));
  const problem = expect.stringMatching(/^review cannot be read/) as string;
  expect(await verifyRun(run.dir)).toMatchObject({ ok: false, problem });
});
