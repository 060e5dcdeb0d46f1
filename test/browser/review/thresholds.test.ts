import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { guardsweep, temporaryFolder } from '../../helpers/cli.ts';
import { closeAfterEach, openAiServer } from '../../helpers/guards/guard-pool.ts';
import { openDashboard } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();
closeAfterEach();

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

it('review goes along when block is set below it', async () => {
  const { page } = await openDashboard(browser, run(), '/thresholds');
  await page.getByRole('spinbutton', { name: 'Block from, Hate, as a number' }).fill('0.2');
  await page.keyboard.press('Tab');
  const review = page.getByRole('spinbutton', { name: 'Review from, Hate, as a number' });
  expect(await review.inputValue()).toBe('0.2');
  await page.getByRole('button', { name: 'As default: review from, Hate' }).click();
  await page.getByText('Review is above block').waitFor();
  await page.getByText('There is no policy file with review above block.').waitFor();
});

it('has sliders for the categories of another taxonomy that the run has scores in', async () => {
  const corpus = await temporaryFolder();
  const out = join(corpus, 'runs');
  await writeFile(join(corpus, 'notes.csv'), 'text\nThe library is open.\nThe choir sings.\n');
  const server = await openAiServer({
    ...{ family: 'moderations', model: 'omni-moderation-latest' },
    score: () => 0.3,
  });
  const policy = join(corpus, 'policy.yaml');
  await writeFile(policy, 'thresholds:\n  openai/hate/threatening: { block: 0.9 }\n');
  const args = [
    'enqueue',
    join(corpus, 'notes.csv'),
    '--out',
    out,
    '--guard',
    server.address,
    '--policy',
    policy,
  ];
  expect(await guardsweep(args)).toMatchObject({ status: 0 });
  const name = (await readdir(out)).find((one) => !one.startsWith('.'))!;
  const { page } = await openDashboard(browser, { out, name, corpus }, '/thresholds');
  const changed = page.locator('.changed');
  await expect.poll(() => changed.textContent()).toBe('No item would change.');
  await page.getByRole('spinbutton', { name: 'Review from, openai/hate, as a number' }).fill('0.25');
  await page.keyboard.press('Tab');
  await expect.poll(() => changed.textContent()).toBe('2 items would change.');
  expect(await page.getByLabel('Policy file').textContent()).toBe(
    'thresholds:\n  openai/hate: { review: 0.25 }\n  openai/hate/threatening: { block: 0.9 }\n' +
      'allowFlagged: false\nallowPartial: false\n',
  );
  await checkPage(page);
});

it('says that thresholds change nothing for a guard whose scores are 0 or 1', async () => {
  const corpus = await temporaryFolder();
  const out = join(corpus, 'runs');
  await writeFile(join(corpus, 'notes.csv'), 'text\nThe library is open.\nThe choir sings.\n');
  const model = { family: 'llama-guard', model: 'meta-llama/Llama-Guard-3-8B' } as const;
  const server = await openAiServer({ ...model, alternatives: 0 });
  const args = ['enqueue', join(corpus, 'notes.csv'), '--out', out, '--guard', server.address];
  expect(await guardsweep(args)).toMatchObject({ status: 0 });
  const name = (await readdir(out)).find((one) => !one.startsWith('.'))!;
  const { page } = await openDashboard(browser, { out, name, corpus }, '/thresholds');
  await page.getByText('All verdicts have binary scores').waitFor();
  await checkPage(page);
  const { page: other } = await openDashboard(browser, run(), '/thresholds');
  await expect.poll(() => other.locator('.changed').textContent()).toBe('No item would change.');
  expect(await other.getByText('binary scores').count()).toBe(0);
});
