import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { renderReport } from '../../src/report/html/write-report.ts';
import { useBrowser, type View } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { temporaryFolder, guardsweep } from '../helpers/cli.ts';
import { sampleReport } from '../report/html/report-sample.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { onlyRun } from '../helpers/run-directory.ts';

const PROBES = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  "' onmouseover='alert(1)' x='",
  '" onfocus=alert(1) autofocus x="',
  '</title></style></script><svg onload=alert(1)>',
  '--><h1>x</h1><!--',
  'javascript:alert(1)',
  '${alert(1)}{{alert(1)}}',
  '&lt;b&gt;&#60;script&#62;',
  '<a href="https://example.com/">x</a>',
  '\u202e\u2066\x00\x1b[31mred',
  ']]><![CDATA[<iframe src="https://example.com">',
  '../'.repeat(400),
];

const browser = useBrowser();

/** All elements of a page with the names of their attributes, in order; in a browser. */
const STRUCTURE = `[...new DOMParser().parseFromString(html, 'text/html').querySelectorAll('*')].map(
  (element) => [element.localName, ...element.getAttributeNames(), element.getAttribute('href')?.split(':')[0]].join(' '),
)`;

describe('a rendered report', () => {
  it('has the same elements and attributes whatever the strings of the record are', async () => {
    const page = await browser.newPage();
    const structure = async (text: (index: number) => string): Promise<string[]> => {
      const html = await renderReport(sampleReport({ text }));
      return page.evaluate(`{ const html = ${JSON.stringify(html)}; ${STRUCTURE} }`);
    };
    const plain = await structure((index) => `text-${index}`);
    expect(plain.length).toBeGreaterThan(1000);
    for (let shift = 0; shift < PROBES.length; shift += 4) {
      const probed = await structure((index) => `${PROBES[(index + shift) % PROBES.length]}${index}`);
      expect(probed).toEqual(plain);
    }
  });

  it('loads nothing, and allows its own script and styles only', async () => {
    const html = await renderReport(sampleReport());
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(html) ?? [];
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      expect.stringMatching(/^script-src 'sha256-[A-Za-z0-9+/=]{44}'$/),
      expect.stringMatching(/^style-src 'sha256-[A-Za-z0-9+/=]{44}'$/),
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(html.replaceAll('http://www.w3.org/2000/svg', '')).not.toMatch(
      /https?:|\ssrc=|\sstyle=|url\(|@import/,
    );
    expect(html).not.toMatch(/\son[a-z]+=/);
  });

  it.each([
    ['of many items on a phone', { scale: 1_234_567 }, 'phone', 'light'],
    ['of hostile strings', { text: (index: number) => PROBES[index % PROBES.length]! }, 'desktop', 'dark'],
  ] as const)('can be read by everybody: %s', async (_what, sample, size, scheme) => {
    const page = await browser.newPage({ size, scheme });
    const path = join(await temporaryFolder(), 'report.html');
    await writeFile(path, await renderReport(sampleReport(sample)));
    await page.goto(`file://${path}`);
    await checkPage(page);
    await page.evaluate('dispatchEvent(new Event("beforeprint"))');
    await checkPage(page);
  });
});

const SAMPLE = join(import.meta.dirname, '../../jobs/sample');

const VIEWS: Record<string, View> = {
  report: {},
  'report-dark': { scheme: 'dark' },
  'report-phone': { size: 'phone' },
};

describe('the report of a run over the sample', () => {
  it('shows a short page with what was judged, flagged and not judged, and folds the rest', async () => {
    const cwd = await temporaryFolder();
    await guardsweep(['enqueue', SAMPLE, '--name', 'sample', '--quiet'], { cwd });
    const dir = await onlyRun(join(cwd, 'runs'));
    for (const [image, view] of Object.entries(VIEWS)) {
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
