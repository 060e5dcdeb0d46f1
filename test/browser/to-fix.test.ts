import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import type { ToFix } from '../../src/dashboard/api/runs.ts';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { serveDashboard } from '../helpers/dashboard.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const browser = useBrowser();

const ROWS = Array.from({ length: 140 }, (_, at) => `${at},2024-01-02\n`);
const GERMAN = ['Grüße aus Köln', 'Ein schöner Tag für uns alle', 'Das war wirklich übertrieben'];
const ICON = Buffer.concat([Buffer.from('00000100', 'hex'), Buffer.alloc(64)]);

it('names each file that was not judged: why, how many rows it has, and the command that judges it', async () => {
  const folder = await temporaryFolder();
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  await writeFile(join(uploads, 'good.csv'), 'text\nhello there\nsee you at lunch\n');
  await writeFile(join(uploads, 'ids.csv'), `id,when\n${ROWS.join('')}`);
  await writeFile(join(uploads, 'old.csv'), Buffer.from(`text\n${GERMAN.join('\n')}\n`, 'latin1'));
  // What it is, only its content tells.
  await writeFile(join(uploads, 'page'), '{\\rtf1 Hello}');
  await writeFile(join(uploads, 'photo.ico'), ICON);
  const done = await guardsweep(['enqueue', 'uploads'], { cwd: folder });
  expect(done.stdout).toContain('Judged 2 of 145 items; 143 not judged');
  const out = join(folder, 'runs');
  const name = basename(await onlyRun(out));
  const served = await serveDashboard({ out, roots: [folder] });
  const page = await browser.newPage({ size: 'phone', scheme: 'dark' });
  await page.goto(`${served.origin}/runs/${name}#token=${served.token}`);
  const list = page.getByRole('region', { name: 'What to fix' });
  const causes = list.locator('summary');
  await causes.nth(2).waitFor();
  expect(await causes.allTextContents()).toEqual([
    '140 tables without a text column: name one',
    '2 files of unsupported types: convert them',
    '1 not UTF-8: name the encoding',
  ]);
  const answer = await served.fetch(`/api/runs/${name}/to-fix`);
  const { listed } = (await answer.json()) as ToFix;
  expect(listed).toMatchObject([
    { path: 'uploads/ids.csv', items: 140, columns: ['id', 'when'] },
    { path: 'uploads/old.csv', items: 1, columns: [] },
    { path: 'uploads/page', items: 1, command: null, advice: null },
    { path: 'uploads/photo.ico', items: 1, command: null, advice: 'convert it to PNG' },
  ]);
  expect(listed[2]!.why).toMatch(/: export it as text$/);
  expect(listed.slice(0, 2).map(({ command }) => command)).toEqual([
    expect.stringMatching(/enqueue .*uploads\/ids\.csv --text-column NAME$/),
    expect.stringMatching(/enqueue .*uploads\/old\.csv --encoding windows-1252$/),
  ]);
  for (const cause of await causes.all()) await cause.click();
  await list.getByText('Its columns: id, when').waitFor();
  await list.getByText(/--encoding windows-1252$/).waitFor();
  await checkPage(page);

  // The content of a file that is not read says the same, and nothing of disks.
  await list.getByRole('link', { name: 'photo.ico' }).click();
  await page.getByText('What to do: convert it to PNG').waitFor();
});
