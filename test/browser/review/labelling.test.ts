import { expect, it } from 'vitest';
import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { listOf, openDashboard } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

const selected = '[role=option][aria-selected=true]';

it('ten items are labelled with the keyboard alone, and exported', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  const seqs: number[] = await page.evaluate(
    "[...document.querySelectorAll('.item-row')].slice(0, 12).map((row) => Number(row.id.replace('row-', '')))",
  );
  const decided = ['3', '2', '1', '3', 'a', '3', '1', '2', 'a', '3'];
  for (const [index, key] of decided.entries()) {
    await page.locator(`${selected}#row-${seqs[index]}`).waitFor();
    await page.keyboard.press(key);
  }
  await page.locator(`${selected}#row-${seqs[10]}`).waitFor();
  await page.getByText('10 decisions').waitFor();
  await expect.poll(() => page.locator('.reviewed:not(.saving)').count()).toBe(10);
  await checkPage(page);
  await screenshot(page, 'dashboard-review-list');

  const words = { 1: 'allow', 2: 'review', 3: 'block' } as const;
  // Restricted items are in no file of labels.
  let restricted = 0;
  for (const [index, key] of decided.entries()) {
    const detail = (await (await served.fetch(`${api}/items/${seqs[index]}`)).json()) as ItemDetail;
    if (detail.restricted) restricted++;
    const expected = key === 'a' ? detail.line.decision : words[key as '1' | '2' | '3'];
    expect(detail.reviews.map(({ decision }) => decision)).toEqual([expected]);
  }
  const labels = await (await served.fetch(`${api}/labels/labels.jsonl`)).text();
  expect(labels.trim().split('\n')).toHaveLength(10 - restricted);
  const studio = (await (await served.fetch(`${api}/labels/label-studio.json`)).json()) as unknown[];
  expect(studio).toHaveLength(10 - restricted);
});

it('a note, categories and undo', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.locator('[role=listbox]').focus();
  await page.keyboard.press('End');
  await page.getByText(/^101 to /).waitFor();
  await page.locator(selected).waitFor();
  const seq = Number((await page.locator(selected).getAttribute('id'))!.replace('row-', ''));
  const reviews = async (): Promise<ItemDetail['reviews']> =>
    ((await (await served.fetch(`${api}/items/${seq}`)).json()) as ItemDetail).reviews;

  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill('<b>checked</b> with \u202e Ana');
  await dialog.getByRole('radio', { name: 'Block' }).check();
  await dialog.getByLabel('Say which categories').check();
  await dialog.getByLabel('Privacy').check();
  await checkPage(page);
  await page.keyboard.press('Control+Enter');
  await dialog.waitFor({ state: 'detached' });
  await expect
    .poll(reviews)
    .toMatchObject([{ decision: 'block', categories: ['privacy'], note: '<b>checked</b> with \u202e Ana' }]);
  await page.getByText('<b>checked</b> with \\u{202e} Ana').waitFor();

  await page.keyboard.press('1');
  await expect.poll(reviews).toHaveLength(2);
  await page.keyboard.press('u');
  await expect
    .poll(async () => (await reviews()).at(-1))
    .toMatchObject({
      decision: 'block',
      categories: ['privacy'],
      note: '<b>checked</b> with \u202e Ana',
    });
  await page.keyboard.press('u');
  await expect.poll(async () => (await reviews()).at(-1)).toMatchObject({ decision: null });
  await expect.poll(() => page.locator(`#row-${seq} .reviewed`).count()).toBe(0);
});

it('a review that cannot be saved says so, and can be tried again', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  let refused = 0;
  await page.route('**/reviews', (route) =>
    refused++ === 0
      ? route.fulfill({
          status: 503,
          json: { error: { code: 'DISK_FULL', message: 'There is no space left on the disk.' } },
        })
      : route.continue(),
  );
  const seq = Number((await page.locator(selected).getAttribute('id'))!.replace('row-', ''));
  const saved = async (): Promise<number> =>
    ((await (await served.fetch(`${api}/items/${seq}`)).json()) as ItemDetail).reviews.length;
  const before = await saved();
  await page.keyboard.press('3');
  const alert = page.getByRole('alert').filter({ hasText: '1 review is not saved' });
  await alert.getByText('There is no space left on the disk.').waitFor();
  await page.locator(`#row-${seq}`).getByText('not saved').waitFor();
  await alert.getByRole('button', { name: 'Try again' }).click();
  await alert.waitFor({ state: 'detached' });
  await expect.poll(saved).toBe(before + 1);
  await checkPage(page, { expected: [/503/] });
});
