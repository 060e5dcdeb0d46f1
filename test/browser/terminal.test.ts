import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../helpers/browser/browser.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { onTerminal } from '../helpers/pseudo-terminal.ts';

const SAMPLE = fileURLToPath(new URL('../../jobs/sample', import.meta.url));
const XTERM = dirname(createRequire(import.meta.url).resolve('@xterm/xterm/package.json'));

const browser = useBrowser();

/** A page with a terminal of this size that shows a text; and the lines on its screen. */
async function shownOn(
  columns: number,
  rows: number,
  text: string,
): Promise<{ page: Page; screen: string[] }> {
  const page = await browser.newPage();
  await page.setContent('<body style="margin: 12px; background: #16181d"><div id="terminal"></div></body>');
  await page.addStyleTag({ path: join(XTERM, 'css/xterm.css') });
  await page.addScriptTag({ path: join(XTERM, 'lib/xterm.js') });
  const options = {
    cols: columns,
    rows,
    fontSize: 14,
    theme: { background: '#16181d', foreground: '#e6e8ec' },
  };
  const screen: string[] = await page.evaluate(`new Promise((resolve) => {
    const terminal = new Terminal(${JSON.stringify(options)});
    terminal.open(document.getElementById('terminal'));
    terminal.write(${JSON.stringify(text)}, () => {
      const { active } = terminal.buffer;
      resolve(Array.from({ length: ${rows} }, (_, row) => active.getLine(active.viewportY + row).translateToString(true)));
    });
  })`);
  const { width, height } = (await page.locator('.xterm-screen').boundingBox())!;
  await page.setViewportSize({ width: Math.ceil(width) + 24, height: Math.ceil(height) + 24 });
  return { page, screen };
}

it('the summary of an ordinary run fits a terminal of 80 columns', async () => {
  const cwd = await temporaryFolder();
  for (const [columns, rows] of [
    [80, 40],
    [100, 40],
  ] as const) {
    const text = await onTerminal(['enqueue', SAMPLE, '--out', 'runs', '--no-reuse'], { cwd, columns, rows });
    const typed = `$ guardsweep enqueue jobs/sample\r\n${text.replaceAll(cwd, '~')}$ `;
    const { page, screen } = await shownOn(columns, rows, columns === 80 ? `${text}$ ` : typed);
    expect(screen.join('\n')).toMatch(/^Judged 122 of 122 items; 0 not judged$/m);
    expect(screen.join('\n')).toMatch(/^Open next: .*\n/m);
    if (columns === 100) await screenshot(page, 'terminal');
  }
});

it('progress takes two lines, which are gone at the end', async () => {
  const cwd = await temporaryFolder();
  const rows = Array.from({ length: 20_000 }, (_, row) => `comment number ${row} I will kill you all\n`);
  await writeFile(join(cwd, 'comments.csv'), `text\n${rows.join('')}`);
  const text = await onTerminal(['enqueue', 'comments.csv', '--no-report'], { cwd, columns: 80, rows: 24 });
  const draws = text.split('\u001b[J');
  expect(draws.length).toBeGreaterThan(3);
  const half = draws.slice(0, Math.ceil(draws.length / 2)).join('\u001b[J');
  const { page, screen } = await shownOn(80, 24, `$ guardsweep enqueue comments.csv\r\n${half}`);
  const lines = screen.filter((line) => line !== '');
  expect(lines.at(-2)).toMatch(/^(about )?\d+%, .* block, 0 review$/);
  expect(lines.at(-1)).toMatch(/^read [\d,]+\+? > sent [\d,]+ > judged [\d,]+ > committed [\d,]+$/);
  await screenshot(page, 'terminal-progress');
  const end = await shownOn(80, 24, text);
  expect(end.screen.join('\n')).not.toContain('> committed');
  expect(end.screen.join('\n')).toContain('Judged 20,000 of 20,000 items');
});
