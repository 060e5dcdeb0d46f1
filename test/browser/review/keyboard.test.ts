import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import type { ItemDetail } from '../../../src/dashboard/api/items.ts';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { serveDashboard } from '../../helpers/dashboard.ts';
import { decide, listOf, openDashboard, selected } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

it('thirty items are labelled with the keyboard alone, one while the server is down, and exported', async () => {
  const first = await openDashboard(browser, run(), '/review', {}, 'a-token-that-outlives-the-server');
  const { page, api } = first;
  await page.setViewportSize({ width: 1440, height: 900 });
  await listOf(page);
  const seqs: number[] = await page.evaluate(
    "[...document.querySelectorAll('.item-row')].slice(0, 31).map((row) => Number(row.id.replace('row-', '')))",
  );
  const decided = Array.from({ length: 30 }, (_, at) => ['3', '2', '1', 'a'][at % 4]!);
  let { served } = first;
  for (const [index, key] of decided.entries()) {
    const row = page.locator(`${selected}#row-${seqs[index]}`);
    await row.waitFor();
    if (index === 15) {
      await decide(page, 's');
      const port = Number(new URL(served.origin).port);
      await served.close();
      await page.keyboard.press(key);
      await page.getByRole('alert').getByText('Not saved: The server cannot be reached').waitFor();
      await row.getByText('not saved').waitFor();
      await page.getByText('Connection lost, trying again').waitFor();
      served = await serveDashboard({ ...first.options, port });
      // Sessions end with the server.
      await page.getByLabel('Token').fill(first.options.releaseToken!);
      await page.keyboard.press('Enter');
      await row.waitFor();
    }
    const isRestricted = (await row.locator('.restricted-mark').count()) > 0;
    await decide(page, key, isRestricted);
  }
  await page.locator(`${selected}#row-${seqs[30]}`).waitFor();
  await page.getByText('30 decisions').waitFor();
  expect(await page.locator('.reviewed').count()).toBe(30);
  // A server that is going down may still answer, with 503.
  await checkPage(page, { expected: [/ERR_CONNECTION_REFUSED/, /401/, /503/] });
  // A full screen of dense rows is a large image.
  await page.setViewportSize({ width: 1280, height: 720 });
  await screenshot(page, 'dashboard-review-list');

  const words = { 1: 'allow', 2: 'review', 3: 'block' } as const;
  // Restricted items are in no file of labels.
  let restricted = 0;
  for (const [index, key] of decided.entries()) {
    const detail = await served.json<ItemDetail>(`${api}/items/${seqs[index]}`);
    if (detail.restricted) restricted++;
    const expected = key === 'a' ? detail.line.decision : words[key as '1' | '2' | '3'];
    expect(detail.reviews).toMatchObject([{ decision: expected, seen: !detail.restricted }]);
  }
  const labels = await (await served.fetch(`${api}/labels/labels.jsonl`)).text();
  const lines = labels.trim().split('\n');
  expect(lines).toHaveLength(30 - restricted);
  for (const line of lines) expect(JSON.parse(line)).toMatchObject({ seen: true });
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Label Studio' }).click(),
  ]);
  const studio = JSON.parse(await readFile(await saved.path(), 'utf8')) as { data: { text: string } }[];
  expect(studio).toHaveLength(30 - restricted);
  expect(studio.filter(({ data }) => data.text !== '').length).toBeGreaterThan(0);
});
