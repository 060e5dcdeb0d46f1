/**
 * Opens the review list and the thresholds of the run directory in `process.argv[2]` in Chromium, on a separate
 * dashboard, and prints PageTimes as JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { createRequire } from 'node:module';
import { chromium, type Page } from 'playwright-core';
import { standardOutput } from '../../src/terminal/standard-streams.ts';
import { median } from '../harness/figures.ts';

/** In milliseconds, as users experience them; `cold` includes building the index, all others are medians. */
export interface PageTimes {
  /** Time from the navigation to the first rows. */
  readonly cold: number;
  readonly warm: number;
  /** Time from the choice of a filter to its rows. */
  readonly filtered: number;
  /** From a slider step to its effect, including the 100 ms that the page waits for more steps. */
  readonly slider: number;
}

const MAIN = createRequire(import.meta.url).resolve('#dist/src/cli/main.js');
const REPEATS = 10;
const COLD_TIMEOUT_MS = 300_000;
const ROWS = '[role=option]';

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function medianOf(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) times.push(await timed(work));
  return median(times);
}

/** Acts, and waits until the server's answer to it is shown. */
async function answered(page: Page, path: string, act: () => Promise<void>, shown: string): Promise<void> {
  const answer = page.waitForResponse(
    (response) => response.url().endsWith(path) && response.status() === 200,
  );
  await act();
  await answer;
  await page.waitForSelector(shown);
}

async function measure(page: Page, link: string, run: string): Promise<PageTimes> {
  await page.goto(link);
  await page.getByText('Live', { exact: true }).waitFor();
  const list = new URL(`/runs/${encodeURIComponent(run)}/review`, link).href;
  const rows = async (): Promise<void> => {
    await page.goto(list);
    await page.waitForSelector(ROWS, { timeout: COLD_TIMEOUT_MS });
  };
  const cold = await timed(rows);
  const warm = await medianOf(rows);
  await page.keyboard.press('f');
  const panel = page.getByRole('complementary', { name: 'Filters' });
  const choice = panel.getByRole('checkbox', { name: /^Allow/ });
  await choice.waitFor();
  const filtered = await medianOf(() => answered(page, '/items', () => choice.click(), ROWS));
  await page.goto(list.replace(/review$/, 'thresholds'));
  await page.waitForSelector('.effect [aria-busy=false]');
  await page.getByRole('slider', { name: 'Review from , Overall, and default' }).focus();
  const step = (): Promise<void> => page.keyboard.press('ArrowLeft');
  const slider = await medianOf(() => answered(page, '/thresholds', step, '.effect [aria-busy=false]'));
  return { cold, warm, filtered, slider };
}

const [, , dir] = process.argv as [string, string, string];
const args = ['serve', '--out', dirname(dir), '--root', dirname(dir), '--port', '0'];
const server = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
const ended = once(server, 'exit');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  // Its sandbox does not work for root.
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
try {
  let link: string | undefined;
  for await (const line of createInterface({ input: server.stdout })) {
    link = /^dashboard: (\S+)/.exec(line)?.[1];
    if (link !== undefined) break;
  }
  const times = await measure(await browser.newPage(), link!, basename(dir));
  standardOutput().line(JSON.stringify(times));
} finally {
  await browser.close();
  server.kill('SIGTERM');
  await ended;
}
