import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { renderReport } from '../../src/report/html/write-report.ts';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { sampleReport } from '../report/html/report-sample.ts';

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
