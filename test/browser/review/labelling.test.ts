import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { ItemDetail, ItemPage } from '../../../src/dashboard/api/items.ts';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { decide, listOf, openDashboard } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

const seqOf = async (page: Page): Promise<number> =>
  Number((await page.locator(selected).getAttribute('id'))!.replace('row-', ''));

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
    const isRestricted = (await page.locator(`#row-${seqs[index]} .restricted-mark`).count()) > 0;
    await decide(page, key, isRestricted);
  }
  await page.locator(`${selected}#row-${seqs[10]}`).waitFor();
  await page.getByText('10 decisions').waitFor();
  await expect.poll(() => page.locator('.reviewed:not(.saving)').count()).toBe(10);
  await checkPage(page);
  // A full screen of dense rows is a large image.
  await page.setViewportSize({ width: 1280, height: 720 });
  await screenshot(page, 'dashboard-review-list');

  const words = { 1: 'allow', 2: 'review', 3: 'block' } as const;
  // Restricted items are in no file of labels.
  let restricted = 0;
  for (const [index, key] of decided.entries()) {
    const detail = (await (await served.fetch(`${api}/items/${seqs[index]}`)).json()) as ItemDetail;
    if (detail.restricted) restricted++;
    const expected = key === 'a' ? detail.line.decision : words[key as '1' | '2' | '3'];
    expect(detail.reviews.map(({ decision, seen }) => [decision, seen])).toEqual([
      [expected, !detail.restricted],
    ]);
  }
  const labels = await (await served.fetch(`${api}/labels/labels.jsonl`)).text();
  const lines = labels
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { seen: boolean });
  expect(lines.map(({ seen }) => seen)).toEqual(Array.from({ length: 10 - restricted }, () => true));
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
  await page.locator('.item-row').nth(20).click();
  const seq = await seqOf(page);
  const saved = async (): Promise<number> =>
    ((await (await served.fetch(`${api}/items/${seq}`)).json()) as ItemDetail).reviews.length;
  const before = await saved();
  await page.getByLabel('Let me decide without looking').check();
  await page.keyboard.press('2');
  const alert = page.getByRole('alert').filter({ hasText: '1 review is not saved' });
  await alert.getByText('There is no space left on the disk.').waitFor();
  await page.locator(`#row-${seq}`).getByText('not saved').waitFor();
  await alert.getByRole('button', { name: 'Try again' }).click();
  await alert.waitFor({ state: 'detached' });
  await expect.poll(saved).toBe(before + 1);
  await checkPage(page, { expected: [/503/] });
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
  await expect
    .poll(async () => ((await (await served.fetch(`${api}/items/${seq}`)).json()) as ItemDetail).reviews)
    .toMatchObject([{ decision: 'block', seen: true }]);
  expect(posted).toHaveLength(1);
  await checkPage(page);
});

it('reviewers have names, see what others decide, and are asked before they overrule it', async () => {
  const { page, served, api, pages } = await openDashboard(browser, run(), '/review');
  const other = await browser.newPage();
  await other.goto(`${served.origin}${pages}/review#token=${served.token}`);
  for (const [reviewer, name] of [
    [page, 'Ana'],
    [other, 'Ben'],
  ] as const) {
    await listOf(reviewer);
    await reviewer.getByRole('button', { name: 'Change name' }).click();
    await reviewer.getByRole('dialog').getByLabel('Name').fill(name);
    await reviewer.getByRole('button', { name: 'Save' }).click();
    await reviewer.getByText(`Reviewing as ${name}`).waitFor();
    await reviewer.getByText('Live', { exact: true }).waitFor();
    await listOf(reviewer);
    await reviewer.locator('.item-row').nth(40).click();
  }
  const seq = await seqOf(page);
  expect(await seqOf(other)).toBe(seq);
  const last = async (): Promise<unknown> =>
    ((await (await served.fetch(`${api}/items/${seq}`)).json()) as ItemDetail).reviews.at(-1);
  await decide(page, '3');
  await other.getByText('Somebody has reviewed this item').waitFor();
  await other.locator(`#row-${seq} .reviewed`).waitFor();
  await other.locator('.reviews').getByText('Ana').waitFor();
  await decide(other, '1');
  const alert = other.getByRole('alert').filter({ hasText: 'reviewed meanwhile' });
  await alert.getByText('Ana decided: Block. You decided: Allow.').waitFor();
  await expect.poll(last).toMatchObject({ number: 1, by: 'Ana', decision: 'block' });
  await checkPage(other, { expected: [/409/] });
  await alert.getByRole('button', { name: 'Save mine' }).click();
  await alert.waitFor({ state: 'detached' });
  await expect.poll(last).toMatchObject({ number: 2, by: 'Ben', decision: 'allow' });
  const labels = await (await served.fetch(`${api}/labels/label-studio.json`)).json();
  expect(JSON.stringify(labels)).toContain('"reviewed_by":"Ben"');
});

it('a decision that was not saved outlives the server and the session', async () => {
  const { page, served, api, pages } = await openDashboard(browser, run(), '/review');
  await listOf(page);
  await page.locator('.item-row').nth(50).click();
  const seq = await seqOf(page);
  await page.route('**/reviews', (route) => route.abort());
  await decide(page, '2');
  await page.getByRole('alert').filter({ hasText: '1 review is not saved' }).waitFor();
  await page.getByText('1 decision not saved yet').waitFor();
  expect(
    await page.evaluate("Object.keys(localStorage).filter((key) => key.includes('unsaved')).length"),
  ).toBe(1);
  await served.fetch('/api/session', { method: 'DELETE', body: {} });
  await page.context().clearCookies();
  await page.unroute('**/reviews');
  page.on('dialog', (dialog) => void dialog.accept());
  await page.goto(`${served.origin}${pages}/review`);
  await page.getByLabel('Token').fill(served.token);
  await page.getByRole('button', { name: 'Log in' }).click();
  await expect
    .poll(async () => {
      const answer = await fetch(`${served.origin}${api}/items/${seq}`, {
        headers: { authorization: `Bearer ${served.token}` },
      });
      return ((await answer.json()) as ItemDetail).reviews;
    })
    .toMatchObject([{ decision: 'review', seen: true }]);
  await expect
    .poll(() => page.evaluate("Object.keys(localStorage).filter((key) => key.includes('unsaved')).length"))
    .toBe(0);
});

it('all items that a filter finds are decided at once, after a preview and a confirmation, and undone', async () => {
  const { page, served, api } = await openDashboard(browser, run(), '/review');
  const blocked = async (review: string): Promise<ItemPage> => {
    const filter = { decisions: ['block'], review };
    const answer = await served.fetch(`${api}/items`, { method: 'POST', body: { filter } });
    return (await answer.json()) as ItemPage;
  };
  const review = (seq: number, decision: string | null): Promise<Response> =>
    served.fetch(`${api}/items/${seq}/reviews`, { method: 'POST', body: { decision } });
  await listOf(page);
  await page.keyboard.press('f');
  await page.getByRole('checkbox', { name: /^Block/ }).check();
  await page.keyboard.press('f');
  // The only restricted item is open, too.
  const all = await blocked('any');
  await review(all.rows.find(({ restricted }) => restricted)!.seq, null);
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
  await page.setViewportSize({ width: 375, height: 812 });
  await checkPage(page);
  await page.setViewportSize({ width: 1440, height: 900 });

  // Somebody is faster on one of them: that one is left alone.
  const [taken, seq] = rows.filter(({ restricted }) => !restricted).map((row) => row.seq) as [number, number];
  await review(taken, 'block');
  await decide.click();
  await page.getByText(`${items - 1} items decided`).waitFor();
  await page.getByText('1 item left alone').waitFor();
  await checkPage(page);
  expect((await blocked('overturned')).total).toBe(overturned + items - 1);
  const last = async (of: number): Promise<unknown> =>
    ((await (await served.fetch(`${api}/items/${of}`)).json()) as ItemDetail).reviews.at(-1);
  expect(await last(seq)).toMatchObject({ decision: 'allow', note: 'a list of shops', seen: false });
  expect(await last(taken)).toMatchObject({ number: 1, decision: 'block' });

  await page.getByRole('button', { name: 'Undo all' }).click();
  await page.getByText(`Undone: ${items - 1} items open again`).waitFor();
  expect((await blocked('overturned')).total).toBe(overturned);
  expect(await last(seq)).toMatchObject({ number: 2, decision: null });
  expect(await last(taken)).toMatchObject({ number: 1, decision: 'block' });
});
