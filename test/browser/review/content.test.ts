import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { folderWith } from '../../helpers/cli.ts';
import { flaggedFor, judgedRun } from '../../helpers/judged-run.ts';
import { openDashboard } from './dashboard-page.ts';

const browser = useBrowser();
const TOKEN = 'the-token-of-those-who-may-release';
const PHONE = { size: 'phone', scheme: 'dark' } as const;

async function starfish() {
  const folder = await folderWith({ 'sea/a.csv': 'id,text\ns-1,a starfish on the sand\n' });
  const corpus = join(folder, 'sea');
  return { ...(await judgedRun(folder, corpus, { verdictOn: () => flaggedFor('sexual_content') })), corpus };
}

it('an item that is withheld for Sexual Content is released with a note, and then shown when asked for', async () => {
  const { page } = await openDashboard(browser, await starfish(), '/items/0', PHONE, TOKEN);
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

async function harbour() {
  const others = ['RESTRICTED harbour', 'HATE in the harbour <b>', 'rain'];
  const texts = ['a Harbour at night', 'the mountains', ...others];
  const corpus = await folderWith({ 'a.csv': `text\n${texts.join('\n')}\n` });
  return { ...(await judgedRun(corpus, join(corpus, 'a.csv'))), corpus };
}

it('finds items by what is in their texts, none that is restricted, and logs that somebody searched, not for what', async () => {
  const run = await harbour();
  const { page, served, api } = await openDashboard(browser, run, '/review', PHONE);
  await page.getByRole('button', { name: 'Filters' }).click();
  await page.getByLabel('Search in the texts').fill('HARBOUR');
  await page.getByLabel('Search in the texts').press('Enter');
  await page.getByText('2 hits in 4 texts.').waitFor();
  await page.getByText('2 items', { exact: true }).waitFor();
  await checkPage(page);
  expect(page.url()).not.toContain('arbour');
  await page.getByRole('button', { name: 'All texts again' }).click();
  await page.getByText('5 items', { exact: true }).waitFor();

  const log = await readFile(join(run.dir, 'review/reveals.jsonl'), 'utf8');
  expect(log.toLowerCase()).not.toContain('harbour');
  expect(log.trimEnd().split('\n')).toHaveLength(1);
  expect(JSON.parse(log)).toMatchObject({ kind: 'search', searched: 4, found: [0, 3] });

  const path = `${api}/text-search`;
  const hated = { filter: { decisions: ['block'] }, text: 'harbour' };
  expect(await served.json(path, hated)).toEqual({ searched: 1, seqs: [3], next: null });
  expect(await served.json(path, { text: 'harbour', from: 1 })).toMatchObject({ searched: 3, seqs: [3] });
  for (const text of ['h', 'a'.repeat(201)])
    expect((await served.fetch(path, { method: 'POST', body: { text } })).status).toBe(400);
});

it('nothing is searched for somebody who may not read the contents of a run', async () => {
  const corpus = await folderWith({ 'a.csv': 'text\nharbour\n' });
  const run = await judgedRun(corpus, join(corpus, 'a.csv'), { own: false });
  const { served, api } = await openDashboard(browser, { ...run, corpus }, '/review');
  const found = await served.json(`${api}/text-search`, { text: 'harbour' });
  expect(found).toEqual({ searched: 0, seqs: [], next: null });
});
