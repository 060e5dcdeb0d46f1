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
  it('shows a short page with what was judged, flagged and not judged, and folds the rest', async () => {
    const cwd = await temporaryFolder();
    await guardsweep(['enqueue', SAMPLE, '--name', 'sample', '--quiet'], { cwd });
    const dir = await onlyRun(join(cwd, 'runs'));
    for (const [image, view] of VIEWS) {
      const page = await browser.newPage(view);
      await page.goto(pathToFileURL(join(dir, 'report.html')).href);
      expect(await page.locator('h1').textContent()).toBe('Moderation report');
      expect(await page.locator('.notices').textContent()).toContain('DEMONSTRATION GUARD');
      expect(await page.locator('.panel .figure').allTextContents()).toEqual(['122 of 122 items', '0 0%']);
      expect(await page.locator('.panel .list').textContent()).toMatch(/^Hate\d/);
      expect(await page.locator('.sum').textContent()).toMatch(
        /^122 items = \d+ block \+ 0 review \+ \d+ allow \+ 0 not judged\. All shares are of these\.$/,
      );
      const answers = await page.locator('.brief dd').allTextContents();
      expect(answers[0]).toMatch(/^Judged by the embedded demonstration guard\. A guard estimates/);
      expect(answers[1]).toBe('Nobody has reviewed these decisions yet.');
      expect(answers[2]).toContain(`guardsweep serve --out ${join(cwd, 'runs')}`);
      const height = await page.evaluate<number>('document.documentElement.scrollHeight');
      expect(height).toBeLessThan(view.size === 'phone' ? 5000 : 3000);
      await checkPage(page);
      // A picture for the docs shows no folder of this test.
      await page.evaluate(
        `for (const each of document.querySelectorAll('code')) each.textContent = each.textContent.replaceAll(${JSON.stringify(cwd)}, '/data')`,
      );
      await screenshot(page, image);
      await page.locator('.panel a').click();
      expect(await page.locator('#categories table').isVisible()).toBe(true);
    }
  });
});
