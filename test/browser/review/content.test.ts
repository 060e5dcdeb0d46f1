import { writeFile, readFile } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { temporaryFolder, folderWith } from '../../helpers/cli.ts';
import { flaggedFor, judgedRun } from '../../helpers/judged-run.ts';
import { openDashboard } from './dashboard-page.ts';

const browser = useBrowser();
const TOKEN = 'the-token-of-those-who-may-release';

async function starfish() {
  const folder = await folderWith({ 'sea/a.csv': 'id,text\ns-1,a starfish on the sand\n' });
  const corpus = join(folder, 'sea');
  const run = await judgedRun(folder, corpus, {
    verdictOn: () => flaggedFor('sexual_content'),
  });
  return { ...run, corpus };
}

it('an item that is withheld for Sexual Content is released with a note, and then shown when asked for', async () => {
  const view = { size: 'phone', scheme: 'dark' } as const;
  const { page } = await openDashboard(browser, await starfish(), '/items/0', view, TOKEN);
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
  const corpus = await temporaryFolder();
  const others = ['RESTRICTED harbour', 'HATE in the harbour <b>', 'rain'];
  const texts = ['a Harbour at night', 'the mountains', ...others];
  await writeFile(join(corpus, 'a.csv'), `id,text\n${texts.map((text, at) => `i${at},${text}\n`).join('')}`);
  return { ...(await judgedRun(corpus, join(corpus, 'a.csv'))), corpus };
}

it('finds items by what is in their texts, none that is restricted, and logs that somebody searched, not for what', async () => {
  const run = await harbour();
  const { page, served, api } = await openDashboard(browser, run, '/review', {
    size: 'phone',
    scheme: 'dark',
  });
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

  const search = (body: unknown) => served.fetch(`${api}/text-search`, { method: 'POST', body });
  const hated = { filter: { decisions: ['block'] }, text: 'harbour' };
  expect(await (await search(hated)).json()).toEqual({ searched: 1, seqs: [3], next: null });
  expect(await (await search({ text: 'harbour', from: 1 })).json()).toMatchObject({ searched: 3, seqs: [3] });
  expect((await search({ text: 'h' })).status).toBe(400);
  expect((await search({ text: 'a'.repeat(201) })).status).toBe(400);
});

it('nothing is searched for somebody who may not read the contents of a run', async () => {
  const corpus = await folderWith({ 'a.csv': 'text\nharbour\n' });
  const run = await judgedRun(corpus, join(corpus, 'a.csv'), { own: false });
  const { served } = await openDashboard(browser, { ...run, corpus }, '/review');
  const path = `/api/runs/${basename(run.dir)}/text-search`;
  const answer = await served.fetch(path, { method: 'POST', body: { text: 'harbour' } });
  expect(await answer.json()).toEqual({ searched: 0, seqs: [], next: null });
});
