import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { listOf, openDashboard, selected } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

it('filters and searches, and keeps the place while an item is open', async () => {
  const { page, pages } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.keyboard.press('f');
  const panel = page.getByRole('complementary', { name: 'Filters' });
  const block = panel.getByRole('checkbox', { name: /^Block/ });
  await block.check();
  const total = () => page.locator('.total').textContent();
  await expect.poll(total).toMatch(/^\d+ items$/);
  const blocked = await total();
  await checkPage(page);
  // A full screen of dense rows is a large image.
  await page.setViewportSize({ width: 1280, height: 720 });
  await screenshot(page, 'dashboard-review-filters');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('comments.csv');
  await page.keyboard.press('Enter');
  const isOther = (total: string) => total !== blocked && total.endsWith('items');
  await expect.poll(total).toSatisfy(isOther);
  const found = await total();

  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const row = await page.locator(selected).getAttribute('id');
  await page.keyboard.press('o');
  await page.waitForURL(`**${pages}/items/${row!.replace('row-', '')}`);
  await page.getByText(/^3 of /).waitFor();
  await page.keyboard.press('j');
  await page.getByText(/^4 of /).waitFor();
  await page.keyboard.press('k');
  await page.getByText(/^3 of /).waitFor();
  await page.keyboard.press('Escape');
  await page.waitForURL(`**${pages}/review#decisions=block`);
  await page.locator(`${selected}#${row}`).waitFor();
  expect(await total()).toBe(found);

  await page.reload();
  await page.locator(`${selected}#${row}`).waitFor();
  expect(await total()).toBe(found);
  expect(page.url()).not.toContain('comments');
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('comments');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(total).not.toBe(found);
});

it('is filtered by its address, which can be kept and shared, unless that asks for something else', async () => {
  const filter = '#decisions=review,block&categories=hate&minScore=0.2&sort=corpus';
  const { page } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  const origin = new URL(page.url()).href;
  await page.goto(`${origin}${filter}`);
  await page.reload();
  await page.getByRole('button', { name: 'Filters (3)' }).waitFor();
  expect(await page.getByLabel('Order').inputValue()).toBe('corpus');
  await page.keyboard.press('v');
  await page.waitForURL(`**/review/grid${filter}`);
  await page.getByRole('button', { name: 'Clear', exact: true }).click();
  await page.waitForURL('**/review/grid#sort=corpus');

  await page.goto(`${origin}#decisions=%3Cimg%3E&minScore=x`);
  await page.reload();
  await page.getByRole('alert').waitFor();
});

it('with the filter for open items, no item is skipped when the list moves on', async () => {
  const { page } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.keyboard.press('f');
  await page.getByRole('radio', { name: /^Open/ }).check();
  await page.keyboard.press('f');
  await page.locator(`${selected}[aria-posinset="1"]`).waitFor();
  const total = await page.locator('.total').textContent();
  await page.getByLabel('Let me decide without looking').check();
  await page.locator('.item-row').nth(20).click();
  // The page after this one is asked for when these are no longer open.
  for (let position = 21; position <= 25; position++) {
    await page.locator(`${selected}[aria-posinset="${position}"]`).waitFor();
    await page.keyboard.press('1');
  }
  await expect.poll(() => page.locator('.reviewed:not(.saving)').count()).toBe(5);
  // Rows with new reviews are asked for as well, by their seqs.
  const request = page.waitForRequest(
    (asked) => asked.url().endsWith('/items') && (asked.postDataJSON() as { offset: number }).offset > 0,
  );
  await page.getByRole('button', { name: 'Next 100 items' }).click();
  expect((await request).postDataJSON()).toMatchObject({ offset: 95 });
  await page.getByText(/^101 to /).waitFor();
  expect(await page.locator('.total').textContent()).toBe(total);
});

it('a slider says at once what would change, and how a policy says it', async () => {
  const { page } = await openDashboard(browser, run(), '/thresholds');
  const changed = page.locator('.changed');
  await expect.poll(() => changed.textContent()).toBe('No item would change.');
  const slider = page.getByRole('slider', { name: 'Review from, Overall, and default' });
  await slider.focus();
  for (let step = 0; step < 25; step++) await page.keyboard.press('ArrowLeft');
  await expect.poll(() => changed.textContent()).toMatch(/^\d+ items would change\.$/);
  expect(await slider.getAttribute('aria-valuetext')).toMatch(/^0\.25, \d+ scores at or above$/);
  const moved = await page.getByRole('list', { name: 'Items by change' }).innerText();
  expect(moved).toContain('Allow');
  await checkPage(page);
  await screenshot(page, 'dashboard-thresholds');

  await page.getByText('As a policy file').click();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download policy.yaml' }).click();
  expect(await readFile(await (await download).path(), 'utf8')).toBe(
    'thresholds:\n  default: { review: 0.25, block: 0.8 }\n  hate: { review: 0.4 }\nallowFlagged: false\nallowPartial: false\n',
  );
  await page.getByRole('button', { name: "Reset to the run's policy" }).click();
  await expect.poll(() => changed.textContent()).toBe('No item would change.');
});
