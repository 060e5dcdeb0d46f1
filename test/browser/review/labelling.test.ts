import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ItemDetail, ItemPage } from '../../../src/dashboard/api/items.ts';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { decide, listOf, openDashboard, REVIEWER, selected } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

const seqOf = async (page: Page): Promise<number> =>
  Number((await page.locator(selected).getAttribute('id'))!.replace('row-', ''));

it('a note, categories and undo', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.locator('[role=listbox]').focus();
  await page.keyboard.press('End');
  await page.getByText(/^101 to /).waitFor();
  await page.locator(selected).waitFor();
  const seq = await seqOf(page);
  const detail = () => served.json<ItemDetail>(`${api}/items/${seq}`);
  const reviews = async () => (await detail()).reviews;

  await page.getByLabel('Let me decide without looking').check();
  await page.keyboard.press('n');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Note').fill('<b>checked</b> with \u202e Ana');
  await dialog.getByRole('radio', { name: 'Block' }).check();
  await dialog.getByLabel('Say which categories').check();
  await dialog.getByLabel('Privacy').check();
  await checkPage(page);
  await page.keyboard.press('Control+Enter');
  await dialog.waitFor({ state: 'detached' });
  const saved = { decision: 'block', categories: ['privacy'], note: '<b>checked</b> with \u202e Ana' };
  await expect.poll(reviews).toMatchObject([saved]);
  await page.getByText('<b>checked</b> with \\u{202e} Ana').waitFor();

  await page.keyboard.press('1');
  await expect.poll(reviews).toHaveLength(2);
  await page.keyboard.press('u');
  await expect.poll(async () => (await detail()).review).toMatchObject({ number: 1, decision: 'block' });
  await page.keyboard.press('u');
  await expect.poll(async () => (await detail()).review).toBeNull();
  await expect.poll(() => page.locator(`#row-${seq} .reviewed`).count()).toBe(0);
});

it('a held key decides nothing that was not shown', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  const posted: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/reviews')) posted.push(request.url());
  });
  await page.locator('.item-row').nth(30).click();
  const seq = await seqOf(page);
  await page.keyboard.press('3');
  await page.getByRole('alert').getByText('look at the content first').waitFor();
  expect(await seqOf(page)).toBe(seq);
  await decide(page, 's');
  await page.keyboard.press('s');
  await page.getByRole('button', { name: 'Hide' }).waitFor();
  for (let count = 0; count < 15; count++) await page.keyboard.down('3');
  await page.keyboard.up('3');
  await expect.poll(() => page.locator('.reviewed:not(.saving)').count()).toBeGreaterThan(0);
  const detail = () => served.json<ItemDetail>(`${api}/items/${seq}`);
  await expect.poll(detail).toMatchObject({ reviews: [{ decision: 'block', seen: true }] });
  expect(posted).toHaveLength(1);
  await checkPage(page);
});

it('reviewers have names, see what others decide, and overrule nothing that they were not shown', async () => {
  const { page, served, api, pages } = await openDashboard(browser, run(), '/review');
  const other = await browser.newPage();
  await other.goto(`${served.origin}${pages}/review#token=${served.token}`);
  await listOf(page);
  await page.getByText(`Reviewing as ${REVIEWER}`).waitFor();
  await page.locator('.item-row').nth(40).click();
  // Nothing is decided without a name, which is asked for once.
  await listOf(other);
  await other.locator('.item-row').nth(40).click();
  await decide(other, '1');
  const dialog = other.getByRole('dialog', { name: 'Your name' });
  await checkPage(other);
  await dialog.getByLabel('Name').fill('Ben');
  await other.keyboard.press('Enter');
  await other.getByText('Reviewing as Ben').waitFor();
  await other.reload();
  await other.getByText('Reviewing as Ben').waitFor();
  await other.getByText('Live', { exact: true }).waitFor();
  const seq = await seqOf(page);
  expect(await seqOf(other)).toBe(seq);
  const last = async () => (await served.json<ItemDetail>(`${api}/items/${seq}`)).reviews.at(-1);
  // Ben's page has not heard of it: nothing is overruled before it is shown.
  await other.route(/\/api\/runs\/[^/]+$/, (route) => route.fulfill({ status: 304 }));
  await decide(page, '3');
  await expect.poll(last).toMatchObject({ number: 1, by: REVIEWER, decision: 'block' });
  await decide(other, '1');
  const alert = other.getByRole('alert');
  await alert.getByText(`Not saved: ${REVIEWER} decided Block after it was shown.`).waitFor();
  await other.locator('.reviews').getByText(REVIEWER).waitFor();
  await expect.poll(last).toMatchObject({ number: 1 });
  await checkPage(other, { expected: [/409/] });
  await other.keyboard.press('1');
  await expect.poll(last).toMatchObject({ number: 2, by: 'Ben', decision: 'allow' });
  // What Ben decides, the other page shows by itself.
  await page.keyboard.press('k');
  await page.locator('.reviews').getByText('Ben').waitFor();
  const labels = await served.json(`${api}/labels/label-studio.json`, {});
  expect(JSON.stringify(labels)).toContain('"reviewed_by":"Ben"');
});

it('all items that a filter finds are decided at once, after a preview and a confirmation, and undone', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  const blocked = (review: string) =>
    served.json<ItemPage>(`${api}/items`, { filter: { decisions: ['block'], review } });
  const review = (seq: number, decision: string | null) =>
    served.json(`${api}/items/${seq}/reviews`, { decision });
  await listOf(page);
  await page.keyboard.press('f');
  await page.getByRole('checkbox', { name: /^Block/ }).check();
  await page.keyboard.press('f');
  // The only restricted item is open, too.
  const all = await blocked('any');
  await review(all.rows.find(({ restricted }) => restricted)!.seq, null);
  await review(all.rows.findLast(({ restricted }) => !restricted)!.seq, 'block');
  const { rows, total: open } = await blocked('open');
  expect(open).toBeLessThan(all.total);
  const { total: overturned } = await blocked('overturned');
  await expect.poll(() => page.locator('.total').textContent()).toBe(`${all.total} items`);

  await page.getByRole('button', { name: 'Decide on all' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 restricted item must be decided one by one').waitFor();
  const items = open - 1;
  const decide = dialog.getByRole('button', { name: `Decide on ${items} items` });
  await dialog.getByRole('radio', { name: 'Allow' }).check();
  await dialog.getByText(`Agrees with the run on 0 items, overturns it on ${items} items.`).waitFor();
  expect(await decide.isDisabled()).toBe(true);
  await dialog.getByLabel('Note').fill('a list of shops');
  await dialog.getByLabel(`I decide on ${items} items`).check();
  await checkPage(page);

  // Somebody is faster on one of them: that one is left alone.
  const [taken, seq] = rows.filter(({ restricted }) => !restricted).map((row) => row.seq) as [number, number];
  await review(taken, 'block');
  await decide.click();
  await page.getByText(`${items - 1} items decided`).waitFor();
  await page.getByText('1 item left alone').waitFor();
  await checkPage(page);
  expect((await blocked('overturned')).total).toBe(overturned + items - 1);
  const last = async (of: number) => (await served.json<ItemDetail>(`${api}/items/${of}`)).reviews.at(-1);
  expect(await last(seq)).toMatchObject({ decision: 'allow', note: 'a list of shops', seen: false });
  expect(await last(taken)).toMatchObject({ number: 1, decision: 'block' });

  await page.getByRole('button', { name: 'Undo all' }).click();
  await page.getByText(`Undone: ${items - 1} items open again`).waitFor();
  expect((await blocked('overturned')).total).toBe(overturned);
  expect(await last(seq)).toMatchObject({ number: 2, decision: null });
  expect(await last(taken)).toMatchObject({ number: 1, decision: 'block' });
});
