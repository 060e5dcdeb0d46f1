import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useBrowser, type View } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const SAMPLE = join(import.meta.dirname, '../../jobs/sample');

const VIEWS: readonly (readonly [image: string, view: View])[] = [
  ['report', {}],
  ['report-dark', { scheme: 'dark' }],
  ['report-phone', { size: 'phone' }],
];

const browser = useBrowser();

describe('the report of a run over the sample', () => {
  it('opens from the run directory, and shows what was judged, flagged and not judged', async () => {
    const cwd = await temporaryFolder();
    await guardsweep(['enqueue', SAMPLE, '--name', 'sample', '--quiet'], { cwd });
    const dir = await onlyRun(join(cwd, 'runs'));
    for (const [image, view] of VIEWS) {
      const page = await browser.newPage(view);
      await page.goto(pathToFileURL(join(dir, 'report.html')).href);
      expect(await page.locator('h1').textContent()).toBe('Moderation report');
      expect(await page.locator('.notices').textContent()).toContain('DEMONSTRATION GUARD');
      const answers = await page.locator('.brief dd').allTextContents();
      expect(answers.slice(0, 4)).toEqual([
        '122 of 122 items, by 1 model.',
        expect.stringMatching(
          /^\d+ to block and 0 to review, [\d.]+% of what was judged\. Most often: Hate /,
        ) as string,
        '29 earlier turns of conversations that were judged as a whole.',
        'Nobody has reviewed these decisions yet.',
      ]);
      expect(answers[4]).toContain('Judge with a real guard');
      const [judged, not] = await page.locator('.panel .figure').allTextContents();
      expect([judged, not]).toEqual(['122 of 122 items', '0 of 122 items']);
      expect(await page.locator('figure svg[role=img]:visible').count()).toBeGreaterThan(10);
      await checkPage(page);
      await screenshot(page, image);
    }
  });

  it('links to the files of the items that it lists', async () => {
    const cwd = await temporaryFolder();
    await guardsweep(['enqueue', join(SAMPLE, 'notes'), '--quiet'], { cwd });
    const dir = await onlyRun(join(cwd, 'runs'));
    const page = await browser.newPage();
    await page.goto(pathToFileURL(join(dir, 'report.html')).href);
    const link = page.locator('#items a').first();
    const href = (await link.getAttribute('href'))!;
    await link.click();
    await page.waitForURL(href);
    expect(href.startsWith(pathToFileURL(SAMPLE).href)).toBe(true);
  });
});
