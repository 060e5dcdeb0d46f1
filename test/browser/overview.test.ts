import { cp } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { connectGuards } from '../../src/guard/pool/connect-guards.ts';
import { useBrowser, type View } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { openDashboard } from '../helpers/browser/open-dashboard.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { Cli, sharedFolder, writeFiles } from '../helpers/cli.ts';
import { embeddedRun, serveDashboard } from '../helpers/dashboard.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

const SAMPLE = join(import.meta.dirname, '../../jobs/sample');

const browser = useBrowser();

/** A folder with a run of the sample corpus, and of files that cannot be judged and whose names are hostile. */
const folder = sharedFolder();
const out = join(folder, 'runs');
let run: string;

/** File names cannot have a slash. */
const HOSTILE = '"><img src=x onerror=alert(1)>\u202e.csv';

beforeAll(async () => {
  await cp(SAMPLE, join(folder, 'uploads'), { recursive: true });
  await writeFiles(folder, {
    'uploads/archive.bin': Buffer.from([0, 1, 2, 3]),
    'uploads/empty.txt': '',
    [HOSTILE]: 'text\n<script>alert(1)</script>\n',
  });
  const paths = [join(folder, 'uploads'), join(folder, HOSTILE)];
  run = basename(await embeddedRun(out, paths, ['--name', 'uploads']));
});

async function open(view: View, path: string): Promise<Page> {
  const served = await serveDashboard({ out, roots: [folder] });
  const page = await browser.newPage(view);
  await openDashboard(page, served, path);
  return page;
}

it.each<[string, View, string | null]>([
  ['on a desk', {}, 'dashboard-run'],
  ['on a phone, in the dark', { size: 'phone', scheme: 'dark' }, null],
  ['enlarged to 200 %', { zoom: 2 }, null],
])('a finished run shows what was judged and, as large, what was not, %s', async (_, view, image) => {
  const page = await open(view, `/runs/${run}`);
  const notJudged = page.getByRole('region', { name: 'Not judged', exact: true });
  await notJudged.getByText('2 of 125 items').waitFor();
  const judged = page.getByRole('region', { name: 'Judged', exact: true });
  const [left, right] = await Promise.all([judged.boundingBox(), notJudged.boundingBox()]);
  expect(left!.width).toBe(right!.width);
  const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
  expect(headings).toEqual(['Judged', 'Not judged', 'Categories', 'What to fix']);
  const review = await page.getByRole('link', { name: /^Review \d+ flagged items/ }).boundingBox();
  expect(review!.y).toBeLessThan(450);
  if (image !== null) await screenshot(page, image);
  await page.getByText('Run and record').click();
  await page.getByText('onerror=alert(1)').waitFor();
  await checkPage(page);
});

it('the list of runs shows the guards, and a run as it goes on', async () => {
  // The first shards are judged at once; with the rest the run goes on while it is looked at.
  let executions = 0;
  const { address } = await syntheticGuard({ serviceTime: () => (executions++ < 55 ? 0 : 3000) });
  const comments = Array.from({ length: 4000 }, (_, at) => `comment number ${at}`);
  await writeFiles(folder, { 'comments.csv': `text\n${comments.join('\n')}\n` });
  const served = await serveDashboard({
    out,
    roots: [folder],
    openGuards: async (signal) => {
      const asked = { expectFingerprint: null, maxWaitMs: 10_000 };
      const pool = await connectGuards([{ name: address, address }], asked, signal);
      return { pool, died: new AbortController().signal, close: () => pool.close() };
    },
  });
  const page = await browser.newPage();
  await openDashboard(page, served);
  await page.getByRole('region', { name: 'Health' }).getByText('ready').waitFor();
  new Cli(['enqueue', join(folder, 'comments.csv'), '--out', out, '--guard', address]);
  const card = page.getByRole('listitem').filter({ hasText: 'Running' });
  await card.getByText(/^[1-9][0-9]?%, [0-9,]+ of 4,000 items/).waitFor({ timeout: 40_000 });
  await checkPage(page);
  await screenshot(page, 'dashboard-runs');
  await card.getByRole('link').first().click();
  const decisions = page.getByRole('list', { name: 'How the items ended so far' });
  await decisions.getByText(/[1-9]/).first().waitFor();
  const categories = page.getByRole('table', { name: 'Items by category' });
  await categories.getByRole('row').nth(1).waitFor();
  await checkPage(page);
});

it('shows the report in a frame without rights to the page', async () => {
  const page = await open({}, `/runs/${run}/report`);
  const frame = page.getByTitle('Report of uploads');
  expect(await frame.getAttribute('sandbox')).toBe('allow-scripts');
  await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
  expect(await page.frameLocator('iframe').locator('img').count()).toBe(0);
  await checkPage(page);
  await screenshot(page, 'dashboard-report');
});
