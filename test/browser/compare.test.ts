import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { DiffResult } from '../../src/dashboard/api/runs.ts';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { openDashboard } from '../helpers/browser/open-dashboard.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { serveDashboard } from '../helpers/dashboard.ts';
import { ALLOWED, HATEFUL, judgedRun, wordsOf } from '../helpers/judged-run.ts';

const browser = useBrowser();

const HOSTILE = '"><img src=x onerror=alert(1)>\u202e';

/** A file as it was yesterday and is today, after which one item is newly flagged, one is cleared and one has come. */
async function twoNights() {
  const folder = await temporaryFolder();
  const file = join(folder, 'posts.csv');
  const night = async (title: string, rows: readonly string[], flagged: string) => {
    await writeFile(
      file,
      `id,text\n${rows.map((id) => `"${id.replaceAll('"', '""')}",text of ${id.length}\n`).join('')}`,
    );
    return judgedRun(folder, file, {
      ...{ title, formats: ['jsonl'] },
      verdictOn: (request) => (wordsOf(request).endsWith(flagged) ? HATEFUL : ALLOWED),
    });
  };
  const before = await night('yesterday', ['a', 'bb', 'ccc', HOSTILE], 'of 2');
  const now = await night('today', ['dddd', HOSTILE, 'bb', 'a'], `of ${HOSTILE.length}`);
  return { folder, before, now };
}

it('compares a run with an earlier one: what is flagged now, what no longer is, and how to both items', async () => {
  const { folder, before, now } = await twoNights();
  const served = await serveDashboard({ out: now.out, roots: [folder] });
  const page = await browser.newPage();
  await openDashboard(page, served, `/runs/${now.name}/compare`);
  await page.getByLabel('Compare with another run').selectOption({ value: before.name });
  await page.getByText('3 items have the same content in both runs.').waitFor();
  const result = (await (
    await served.fetch(`/api/runs/${now.name}/compare/${before.name}`)
  ).json()) as DiffResult;
  expect(result).toMatchObject({
    ...{ a: { only_here: 1 }, b: { only_here: 1 }, pairs: 3, newly_flagged: 1, cleared: 1 },
    first_differences: [
      {
        differences: ['newly_flagged', 'decision'],
        a: { decision: 'allow' },
        b: { decision: 'block', id: HOSTILE },
      },
      { differences: ['cleared', 'decision'], a: { decision: 'block' }, b: { decision: 'allow', id: 'bb' } },
    ],
  });
  const different = page.getByRole('region', { name: 'Items with another result' });
  expect(await different.getByRole('row').count()).toBe(3);
  await expect.poll(() => page.getByLabel('Compare with another run').inputValue()).toBe(before.name);
  await checkPage(page);
  await screenshot(page, 'dashboard-compare');

  await page.setViewportSize({ width: 375, height: 812 });
  await page.emulateMedia({ colorScheme: 'dark' });
  await checkPage(page);

  // Before leads to the item of the other run, and back the comparison is there at once.
  await different.getByRole('row', { name: 'bb' }).getByRole('link').nth(1).click();
  await page.waitForURL(`**/runs/${before.name}/items/1`);
  await page.goBack();
  await page.getByText('3 items have the same content in both runs.').waitFor();
});

it('says why there is nothing to compare', async () => {
  const { folder, now } = await twoNights();
  const served = await serveDashboard({ out: now.out, roots: [folder] });
  const page = await browser.newPage();
  await openDashboard(page, served, `/runs/${now.name}/compare/none`);
  await page.getByRole('alert').getByText('there is no such run').waitFor();
  const other = await serveDashboard({ out: join(folder, 'nothing'), roots: [folder] });
  expect((await other.fetch(`/api/runs/${now.name}/compare/${now.name}`)).status).toBe(404);
});
