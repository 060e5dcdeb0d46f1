import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { embeddedRun } from '../../helpers/dashboard.ts';
import { decide, listOf, openDashboard } from './dashboard-page.ts';

const browser = useBrowser();

it('one decision is of all items with the same content, and the list and the progress say so', async () => {
  const corpus = await temporaryFolder();
  const rows = ['I will kill you', 'hello there', 'I will kill you', 'I will kill you'];
  await writeFile(join(corpus, 'a.csv'), `id,text\n${rows.map((text, at) => `i${at},${text}\n`).join('')}`);
  const out = join(corpus, 'runs');
  const name = basename(await embeddedRun(out, [join(corpus, 'a.csv')], []));
  const { page } = await openDashboard(browser, { out, name, corpus }, '/review/flagged');
  await listOf(page);
  await page.getByText('0 of 3 flagged reviewed, 3 left').waitFor();
  await page.getByText('2 other items: one decision is for all').waitFor();
  await checkPage(page);
  await decide(page, '1');
  await page.getByText('3 of 3 flagged reviewed, 0 left, 3 overturned').waitFor();
  // Another copy is decided otherwise, and both decisions are taken back.
  await page.keyboard.press('j');
  await decide(page, '2');
  await page.getByText('3 of 3 flagged reviewed, 0 left, 3 overturned').waitFor();
  await page.keyboard.press('u');
  await page.keyboard.press('u');
  await page.getByText('0 of 3 flagged reviewed, 3 left').waitFor();
});
