import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { listOf, openDashboard } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

const selected = '[role=option][aria-selected=true]';

it('filters and searches, and keeps the place while an item is open', async () => {
  const { page, pages } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.keyboard.press('f');
  const panel = page.getByRole('complementary', { name: 'Filters' });
  const block = panel.getByRole('checkbox', { name: /^Block/ });
  await block.check();
  await expect.poll(() => page.locator('.total').textContent()).toMatch(/^\d+ items$/);
  const blocked = await page.locator('.total').textContent();
  await checkPage(page);
  await screenshot(page, 'dashboard-review-filters');
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  await page.keyboard.type('comments.csv');
  await page.keyboard.press('Enter');
  await expect
    .poll(() => page.locator('.total').textContent())
    .toSatisfy((total: string) => total !== blocked && total.endsWith('items'));
  const found = await page.locator('.total').textContent();

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
  await page.waitForURL(`**${pages}/review`);
  await page.locator(`${selected}#${row}`).waitFor();
  expect(await page.locator('.total').textContent()).toBe(found);

  await page.reload();
  await page.locator(`${selected}#${row}`).waitFor();
  expect(await page.locator('.total').textContent()).toBe(found);
  expect(page.url()).not.toContain('comments');
  expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('comments');
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => page.locator('.total').textContent()).not.toBe(found);
});

it('goes on to the next page with the keyboard, and fetches each page once', async () => {
  const { page } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  const asked: number[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/items')) return;
    asked.push((request.postDataJSON() as { offset: number }).offset);
  });
  await page.keyboard.press(']');
  await page.getByText(/^101 to /).waitFor();
  await page.keyboard.press('k');
  await page.getByText(/^1 to 100 /).waitFor();
  await page.keyboard.press('j');
  await page.getByText(/^101 to /).waitFor();
  expect(asked).toEqual([100]);
  await page.getByRole('spinbutton', { name: 'Go to' }).fill('5');
  await page.keyboard.press('Enter');
  await page.locator(`${selected}[aria-posinset="5"]`).waitFor();
});

it('with the filter for open items, no item is skipped when the list moves on', async () => {
  const { page } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.keyboard.press('f');
  await page.getByRole('radio', { name: /^Open/ }).check();
  await page.keyboard.press('f');
  await page.locator(`${selected}[aria-posinset="1"]`).waitFor();
  const total = await page.locator('.total').textContent();
  // The page after this one is asked for when these are no longer open.
  for (let item = 0; item < 5; item++) await page.keyboard.press('1');
  await expect.poll(() => page.locator('.reviewed:not(.saving)').count()).toBe(5);
  const request = page.waitForRequest((asked) => asked.url().endsWith('/items'));
  await page.getByRole('button', { name: 'Next 100 items' }).click();
  expect((await request).postDataJSON()).toMatchObject({ offset: 95 });
  await page.getByText(/^101 to /).waitFor();
  expect(await page.locator('.total').textContent()).toBe(total);
});

it('says that the run is being indexed, and that the list is behind the run', async () => {
  const { page } = await openDashboard(browser, run(), '/overview');
  let answers = 0;
  await page.route('**/items', async (route) => {
    answers++;
    if (answers === 1) return route.fulfill({ status: 202, json: { indexing: 0.42 } });
    const response = await route.fetch();
    return route.fulfill({ json: { ...((await response.json()) as object), stale: answers === 2 } });
  });
  await page.goto(page.url().replace('/overview', '/review'));
  await page.getByText('Indexing the run for its first use: 42%').waitFor();
  await page.getByText('The run has gone on since this list was made').waitFor();
  await checkPage(page);
  await page.keyboard.press('r');
  await listOf(page);
  expect(await page.getByText('The run has gone on').count()).toBe(0);
});

it.each([
  ['on a phone', { size: 'phone' }, 'dashboard-review-phone'],
  ['in the dark', { scheme: 'dark' }, 'dashboard-review-dark'],
] as const)('is read %s', async (_, view, image) => {
  const { page } = await openDashboard(browser, run(), '/review', view);
  await listOf(page);
  await checkPage(page);
  await screenshot(page, image);
});
