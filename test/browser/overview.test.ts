import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBrowser, type View } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { openDashboard } from '../helpers/browser/open-dashboard.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { embeddedRun, serveDashboard } from '../helpers/dashboard.ts';

const SAMPLE = join(import.meta.dirname, '../../jobs/sample');

const browser = useBrowser();

/** A folder with a run of the sample corpus, and of files that cannot be judged and whose names are hostile. */
let folder: string;
let run: string;

/** File names cannot have a slash. */
const HOSTILE = '"><img src=x onerror=alert(1)>\u202e.csv';

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guardsweep-test-'));
  await cp(SAMPLE, join(folder, 'uploads'), { recursive: true });
  await writeFile(join(folder, 'uploads', 'archive.bin'), Buffer.from([0, 1, 2, 3]));
  await writeFile(join(folder, 'uploads', 'empty.txt'), '');
  await writeFile(join(folder, HOSTILE), 'text\n<script>alert(1)</script>\n');
  const dir = await embeddedRun(
    join(folder, 'runs'),
    [join(folder, 'uploads'), join(folder, HOSTILE)],
    ['--name', 'uploads'],
  );
  run = basename(dir);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function open(view: View, path: string): Promise<Page> {
  const served = await serveDashboard({ out: join(folder, 'runs'), roots: [folder] });
  const page = await browser.newPage(view);
  await openDashboard(page, served, path);
  return page;
}

it.each<[string, View, string | null]>([
  ['on a desk', {}, 'dashboard-run'],
  ['in the dark', { scheme: 'dark' }, 'dashboard-run-dark'],
  ['on a phone', { size: 'phone' }, 'dashboard-run-phone'],
  ['enlarged to 200 %', { zoom: 2 }, null],
])('a finished run shows what was judged and, as large, what was not, %s', async (_, view, image) => {
  const page = await open(view, `/runs/${run}`);
  const notJudged = page.getByRole('region', { name: 'Not judged', exact: true });
  await notJudged.getByText('UNSUPPORTED_TYPE').waitFor();
  const judged = page.getByRole('region', { name: 'Judged', exact: true });
  const widths = await Promise.all(
    [judged, notJudged].map(async (half) => (await half.boundingBox())!.width),
  );
  expect(widths[0]).toBe(widths[1]);
  await page.getByRole('region', { name: 'Run and record' }).getByText('onerror=alert(1)').waitFor();
  await checkPage(page);
  if (image !== null) await screenshot(page, image);
});

it.each<[string, View, string]>([
  ['on a desk', {}, 'dashboard-runs'],
  ['on a phone in the dark', { size: 'phone', scheme: 'dark' }, 'dashboard-runs-phone-dark'],
])('the list of runs shows how the items of each ended, %s', async (_, view, image) => {
  const page = await open(view, '/');
  const card = page.getByRole('listitem').filter({ hasText: 'Finished' });
  await card.getByText('Not judged').waitFor();
  await checkPage(page);
  await screenshot(page, image);
});

it('shows the report in a frame without rights to the page', async () => {
  const page = await open({}, `/runs/${run}/report`);
  const frame = page.getByTitle('Report of uploads');
  expect(await frame.getAttribute('sandbox')).toBe('allow-scripts');
  await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  expect(await page.frameLocator('iframe').locator('img').count()).toBe(0);
  await checkPage(page);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
});
