import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { judgedRun } from '../../helpers/judged-run.ts';
import { openDashboard } from './dashboard-page.ts';

const browser = useBrowser();
const TOKEN = 'the-token-of-those-who-may-release';

async function starfish() {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'sea');
  await mkdir(corpus);
  await writeFile(join(corpus, 'a.csv'), 'id,text\ns-1,a starfish on the sand\n');
  const run = await judgedRun(folder, corpus, {
    verdictOn: () => ({
      ...{ score: 0.9, flagged: true, subcategoryFlags: ['sexual_content'] },
      subcategoryScores: { sexual_content: 0.9 },
    }),
  });
  return { ...run, corpus };
}

it('an item that is withheld for Sexual Content is released with a note, and then shown when asked for', async () => {
  const { page } = await openDashboard(
    browser,
    await starfish(),
    '/items/0',
    { size: 'phone', scheme: 'dark' },
    TOKEN,
  );
  await page.getByRole('heading', { name: 'This content is withheld' }).waitFor();
  await page.getByRole('button', { name: 'Release …' }).click();
  const dialog = page.getByRole('dialog');
  const release = dialog.getByRole('button', { name: 'Release', exact: true });
  await dialog.getByLabel('Nothing suggests').check();
  expect(await release.isDisabled()).toBe(true);
  await dialog.getByLabel('Note: how you know').fill('a starfish, from the catalogue of the museum');
  await checkPage(page);
  await release.click();
  await page.getByText('Released by').waitFor();
  await page.getByRole('button', { name: 'Show content' }).click();
  await page.getByText('a starfish on the sand').waitFor();
  await page.getByText('a starfish, from the catalogue').waitFor();
  await checkPage(page);
});

it('nobody else is offered to release it', async () => {
  const { page } = await openDashboard(browser, await starfish(), '/items/0');
  await page.getByText('unless somebody with the right to do so releases it').waitFor();
  expect(await page.getByRole('button', { name: 'Release …' }).count()).toBe(0);
});
