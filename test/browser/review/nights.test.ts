import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Reviews } from '../../../src/dashboard/reviews/reviews.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { ALLOWED, flaggedFor, judgedRun, wordsOf } from '../../helpers/judged-run.ts';
import { listOf, openDashboard } from './dashboard-page.ts';

const browser = useBrowser();

const POLICY = { ...DEFAULT_POLICY, thresholds: { default: { review: 0.4, block: 0.8 } } };

/** Two nights; all that was flagged in the first was allowed by Ana. Returns the second, with one new text and a changed score. */
async function twoNights() {
  const folder = await temporaryFolder();
  const path = join(folder, 'comments.csv');
  const night = async (texts: readonly string[], score: number) => {
    await writeFile(path, `text\n${texts.map((text) => `${text}\n`).join('')}`);
    return judgedRun(folder, path, {
      policy: POLICY,
      verdictOn: (request) => {
        const words = wordsOf(request);
        if (words.startsWith('quiet')) return ALLOWED;
        return flaggedFor('hate', words.startsWith('changing') ? score : 0.9);
      },
    });
  };
  const texts = ['quiet words', 'changing words', 'loud words', 'loud words', 'louder words'];
  const first = await night(texts, 0.41);
  const dir = join(first.out, '20260101T020000Z-test-0000');
  await rename(first.dir, dir);
  const reviews = Reviews.beside(dir);
  for (const line of [1, 2, 4].map((seq) => first.lines[seq]!))
    await reviews.add(dir, line, { decision: 'allow', categories: null, note: '', seen: true }, 'Ana');
  return { ...(await night([...texts, 'the loudest words'], 0.93)), corpus: folder };
}

it('a second night opens what is new and what is judged more severely, and shows who decided on the rest', async () => {
  const run = await twoNights();
  const { page, served, api } = await openDashboard(browser, run, '');
  const progress =
    '3 of 5 flagged reviewed, 2 left, 1 of them reopened, 1 new since the last run, 4 seen before';
  await page.getByText(progress).waitFor();
  await checkPage(page);
  const links = page.getByRole('link', { name: /^Review / });
  await links.first().click();
  await listOf(page);
  await page.getByText(progress).waitFor();
  const rows = page.locator('.item-row .row-review');
  const states = ['reopened', '', 'allow by Ana', 'allow by Ana', 'allow by Ana'];
  await expect.poll(() => rows.allTextContents()).toEqual(states);
  await page.getByText(/^Open again decided allow on \d{1,2} \w{3,4} \d{4} at 0.410, now 0.930$/).waitFor();
  await page.keyboard.press('f');
  await page.getByRole('checkbox', { name: /^New since the last run/ }).check();
  await expect.poll(() => page.locator('.total').textContent()).toBe('1 item');
  await checkPage(page);

  // One decision on equal items; its undo brings back the one of the first night.
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => page.locator('.total').textContent()).toBe('6 items');
  await page.getByLabel('Let me decide without looking').check();
  const same = ['2', '3'].map((seq) => page.locator(`#row-${seq} .row-review`));
  await page.locator('#row-2').click();
  await page.keyboard.press('3');
  for (const row of same) await expect.poll(() => row.textContent()).toBe('agreed');
  await page.keyboard.press('u');
  for (const row of same) await expect.poll(() => row.textContent()).toBe('allow by Ana');
  const counts = { flagged: 3, reviewed: 3, overturned: 3, reopened: 1, fresh: 1 };
  expect(await served.json(`${api}/reviews`)).toEqual(counts);
});
