import { join, basename } from 'node:path';
import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { openDashboard } from '../helpers/browser/open-dashboard.ts';
import { Cli, folderWith, temporaryFolder, guardsweep } from '../helpers/cli.ts';
import { serveDashboard } from '../helpers/dashboard.ts';
import { onlyRun } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';
import type { ToFix } from '../../src/dashboard/api/runs.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { Presence } from '../../src/fleet/redis/presence.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';

const browser = useBrowser();

const ITEMS = 3000;

it('a run is paused, continued, cancelled and watched to its end, with the keyboard alone', async () => {
  let executionMs = 300;
  const guard = await syntheticGuard({ serviceTime: () => executionMs });
  const rows = Array.from({ length: ITEMS }, (_, at) => `text number ${at}`);
  const folder = await folderWith({ 'texts.csv': `text\n${rows.join('\n')}\n` });
  const out = join(folder, 'runs');
  const served = await serveDashboard({ out, roots: [folder] });
  const page = await browser.newPage({ reducedMotion: true });
  const press = async (name: string): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).focus();
    await page.keyboard.press('Enter');
  };
  const state = (words: string): Promise<void> =>
    page.locator('.page-title').getByText(words, { exact: true }).waitFor();
  const dialog = page.getByRole('dialog');

  await openDashboard(page, served);
  await page.getByRole('heading', { name: 'No run yet' }).waitFor();
  await page.getByText(/enqueue (-- )?\.\/uploads/).waitFor();
  await checkPage(page);

  const args = [join(folder, 'texts.csv'), '--out', out, '--guard', guard.address, '--name', 'texts'];
  const enqueued = new Cli(['enqueue', ...args]);
  await page.getByRole('listitem').filter({ hasText: 'texts' }).getByText('Running').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  const heading = page.getByRole('heading', { name: 'texts', exact: true, level: 1 });
  await heading.and(page.locator(':focus')).waitFor();
  expect(await page.title()).toBe('texts · guardsweep');
  await state('Running');
  await page.getByRole('progressbar').waitFor();
  await checkPage(page);

  await press('Pause');
  await state('Paused');
  await press('Continue');
  await state('Running');
  await page.getByRole('link', { name: 'Review' }).click();
  await page.getByRole('heading', { name: 'Not finished yet' }).waitFor();
  await page.goBack();
  await press('Cancel');
  await dialog.waitFor();
  await checkPage(page);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await press('Cancel');
  await press('Cancel the run');
  await state('Cancelled');
  const advice = page.getByRole('region', { name: 'Continue this run' });
  await advice.getByText(/resume /).waitFor();
  await checkPage(page);

  await enqueued.finished();
  executionMs = 0;
  await new Cli(['resume', await onlyRun(out)]).finished();
  await state('Finished');
  const judged = page.getByRole('region', { name: 'Judged', exact: true });
  const all = ITEMS.toLocaleString('en-US');
  await judged.getByText(`${all} of ${all} items`).waitFor();
  await page.getByText('Every item has a verdict.').waitFor();
  await checkPage(page);
});

it('says of a directory that is no run why it cannot be read, whatever its name', async () => {
  const name = '<img src=x onerror=alert(1)>\u202egnp.x"\'&';
  const out = await folderWith({ [`${name}/run.json`]: '{"<script>alert(1)</script>":' });
  const served = await serveDashboard({ out });
  const page = await browser.newPage({ size: 'phone' });
  await openDashboard(page, served);
  const run = page.getByRole('listitem').filter({ hasText: 'Cannot be read' });
  await run.getByText('<img src=x onerror=alert(1)>\\u{202e}gnp.x"\'&').first().waitFor();
  await checkPage(page);
});

const ROWS = Array.from({ length: 140 }, (_, at) => `${at},2024-01-02\n`);
const GERMAN = ['Grüße aus Köln', 'Ein schöner Tag für uns alle', 'Das war wirklich übertrieben'];
const ICON = Buffer.concat([Buffer.from('00000100', 'hex'), Buffer.alloc(64)]);

it('names each file that was not judged: why, how many rows it has, and the command that judges it', async () => {
  const folder = await folderWith({
    'uploads/good.csv': 'text\nhello there\nsee you at lunch\n',
    'uploads/ids.csv': `id,when\n${ROWS.join('')}`,
    'uploads/old.csv': Buffer.from(`text\n${GERMAN.join('\n')}\n`, 'latin1'),
    // What it is, only its content tells.
    'uploads/page': '{\\rtf1 Hello}',
    'uploads/photo.ico': ICON,
  });
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
  const { listed } = await served.json<ToFix>(`/api/runs/${name}/to-fix`);
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

/** What the browser's console says of every answer 401, by its own. */
const REFUSED = /Failed to load resource: .* 401/;

it('asks for a token, says at its field that it is wrong, and goes on to the page that was asked for', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage();
  await page.goto(`${origin}/runs/some-run/report`);
  const field = page.getByLabel('Token');
  await field.waitFor();
  await checkPage(page, { expected: [REFUSED] });
  await screenshot(page, 'login');

  await field.fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'not the token' }).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');

  await field.fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'some-run' }).waitFor();
  expect(page.url()).toBe(`${origin}/runs/some-run/report`);
});

it('logs in with the token in the address, takes it out of the address bar, and logs out', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage({ size: 'phone', scheme: 'dark' });
  await page.goto(`${origin}/login#token=${token}`);
  await page.getByRole('heading', { name: 'Runs', exact: true, level: 1 }).waitFor();
  expect(page.url()).toBe(`${origin}/`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await checkPage(page, { expected: [REFUSED] });
  await page.goBack();
  expect(page.url()).not.toContain(token);
});

it('the fleet is shown with its workers, sinks and queues, and whether its Redis can be reached', async () => {
  const redis = await redisForTest();
  const link = await linkForTest(redis);
  const served = await serveDashboard({ out: await temporaryFolder(), redis: redis.address });
  const page = await browser.newPage({ size: 'phone' });
  const says = (words: string | RegExp): Promise<void> =>
    page.getByRole('region', { name: 'Health' }).getByRole('listitem').filter({ hasText: words }).waitFor();
  await openDashboard(page, served);
  await says(/Fleet over .* 0 workers, 0 sinks/);
  for (const role of ['worker', 'sink'] as const) {
    const process = new Presence(link, role, role, { describe: () => ({}), expiryMs: 60_000 });
    await process.start();
    onTestFinished(() => process.stop());
  }
  await link.redis.lpush(link.key('shards-text', 'wait'), '1', '2');
  await says(/Fleet over .* 1 worker, 1 sink/);
  await says(/Queue text 2 waiting, 0 being done/);
  await checkPage(page);
  await redis.kill();
  await says(/Fleet over .* Redis cannot be reached/);
  await checkPage(page);
  // Without its data, but for what processes announce again.
  await redis.boot();
  await says(/Fleet over .* 1 worker, 1 sink/);
});

const assets = join(import.meta.dirname, '../../dist/web/assets');

/** All that a browser loads for the dashboard, compressed, in bytes. */
const LIMIT = 150_000;

it('the scripts and styles of the dashboard are at most 150 kB, compressed', () => {
  const sizes = readdirSync(assets)
    .filter((name) => /\.(js|css)$/.test(name))
    .map((name) => gzipSync(readFileSync(join(assets, name))).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`dashboard: ${(bytes / 1000).toFixed(1)} kB of scripts and styles, gzip`);
  expect(sizes.length).toBeGreaterThan(1);
  expect(bytes).toBeLessThanOrEqual(LIMIT);
});
