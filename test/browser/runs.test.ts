import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { openDashboard } from '../helpers/browser/open-dashboard.ts';
import { Cli, temporaryFolder } from '../helpers/cli.ts';
import { serveDashboard } from '../helpers/dashboard.ts';
import { onlyRun } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

const browser = useBrowser();

const ITEMS = 3000;

it('a run is paused, continued, cancelled and watched to its end, with the keyboard alone', async () => {
  let executionMs = 300;
  const guard = await syntheticGuard({ serviceTime: () => executionMs });
  const folder = await temporaryFolder();
  const rows = Array.from({ length: ITEMS }, (_, at) => `text number ${at}`);
  await writeFile(join(folder, 'texts.csv'), `text\n${rows.join('\n')}\n`);
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
  await page
    .getByRole('region', { name: 'Continue this run' })
    .getByText(/resume /)
    .waitFor();
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
  const folder = await temporaryFolder();
  const out = join(folder, 'runs');
  const name = '<img src=x onerror=alert(1)>\u202egnp.x"\'&';
  await mkdir(join(out, name), { recursive: true });
  await writeFile(join(out, name, 'run.json'), '{"<script>alert(1)</script>":');
  const served = await serveDashboard({ out, roots: [folder] });
  const page = await browser.newPage({ size: 'phone' });
  await openDashboard(page, served);
  const run = page.getByRole('listitem').filter({ hasText: 'Cannot be read' });
  await run.getByText('<img src=x onerror=alert(1)>\\u{202e}gnp.x"\'&').first().waitFor();
  await checkPage(page);
});
