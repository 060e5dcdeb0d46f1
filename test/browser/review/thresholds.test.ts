import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { openDashboard } from './dashboard-page.ts';
import { useHarmlessRun } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun();

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
