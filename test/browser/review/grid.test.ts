import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { sharedFolder } from '../../helpers/cli.ts';
import { HATEFUL, judgedRun, RESTRICTED, wordsOf, ALLOWED } from '../../helpers/judged-run.ts';
import { drawn } from '../../helpers/pictures.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { listOf, openDashboard } from './dashboard-page.ts';
import { type HarmlessRun, LOUD, PROBE, WITHHELD } from './harmless-run.ts';

const browser = useBrowser();
const IMAGES = 40;

const folder = sharedFolder();
let run: HarmlessRun;

beforeAll(async () => {
  const corpus = join(folder, 'pictures');
  await mkdir(corpus);
  for (let at = 0; at < IMAGES; at++) {
    const picture = drawn(at % 3 === 0 ? 200 : 420, 300).modulate({ hue: at * 40 });
    await writeFile(join(corpus, `picture-${at + 10}.png`), await picture.png().toBuffer());
    await writeFile(join(corpus, `picture-${at + 10}.txt`), at < 20 ? LOUD : 'quiet');
  }
  await writeFile(join(corpus, 'picture-99.png'), await drawn(90, 90).png().toBuffer());
  await writeFile(join(corpus, 'picture-99.txt'), WITHHELD);
  await writeFile(join(corpus, 'letter.csv'), `id,text\n"${PROBE.replaceAll('"', '""')}",${LOUD}\n`);
  const verdictOn = (request: Parameters<typeof wordsOf>[0]) => {
    if (wordsOf(request).includes(WITHHELD)) return RESTRICTED;
    return wordsOf(request).includes(LOUD) ? HATEFUL : ALLOWED;
  };
  run = { ...(await judgedRun(folder, corpus, { verdictOn, title: 'pictures' })), corpus };
});

const tile = (name: string): string => `.tile:has-text("${name}")`;
const reveals = (): string => join(run.dir, 'review', 'reveals.jsonl');
const ready = (page: Page) => page.locator(`${tile('picture-12')} img`).waitFor();
const selected = (page: Page) => page.locator('.tile[aria-selected=true]');

/** Notes the items of which thumbnails are asked for, and whether they are to be clear. */
function asked(page: Page): { seq: number; revealed: boolean }[] {
  const found: { seq: number; revealed: boolean }[] = [];
  page.on('request', (request) => {
    const seq = /items\/(\d+)\/thumbnail$/.exec(request.url());
    if (seq === null) return;
    found.push({ seq: Number(seq[1]), ...(request.postDataJSON() as { revealed: boolean }) });
  });
  return found;
}

/** Notes the address of every image that is marked as clear, however briefly. */
const NOTE_CLEAR_IMAGES = `globalThis.clearImages = new Set();
  new MutationObserver(() => {
    for (const { src } of document.querySelectorAll('img.clear')) clearImages.add(src);
  }).observe(document.body, { subtree: true, childList: true, attributes: true });`;

it('shows images as blurred thumbnails, which are no content, and other items by their kind', async () => {
  const { page, pages } = await openDashboard(browser, run, '/review');
  const thumbnails = asked(page);
  await listOf(page);
  await page.getByRole('link', { name: 'Grid' }).click();
  await page.waitForURL(`**${pages}/review/grid`);
  await ready(page);
  await checkPage(page);
  const { naturalWidth, filter } = await page.locator(`${tile('picture-12')} img`).evaluate((image) => ({
    naturalWidth: (image as unknown as { naturalWidth: number }).naturalWidth,
    filter: (globalThis as unknown as { getComputedStyle(of: unknown): { filter: string } }).getComputedStyle(
      image,
    ).filter,
  }));
  expect([naturalWidth, filter]).toEqual([12, 'blur(6px) grayscale(1)']);
  const text = page.locator(tile('letter.csv, row 1'));
  expect(await text.locator('.tile-picture').textContent()).toBe('text');
  const restricted = run.lines.find(({ source }) => source.path.endsWith('picture-99.png'))!;
  expect(await page.locator(`#row-${restricted.seq} img`).count()).toBe(0);
  expect(await page.locator(`#row-${restricted.seq}`).textContent()).toContain('never shown');
  // Only what is in sight, or nearly so, is asked for.
  expect(thumbnails.length).toBeLessThan(IMAGES);
  expect(thumbnails.filter(({ seq, revealed }) => revealed || seq === restricted.seq)).toEqual([]);
  expect(existsSync(reveals())).toBe(false);
  // Nothing was looked at, so nothing is decided.
  await page.locator(tile('picture-12')).click();
  await page.keyboard.press('1');
  await page.getByText('look at the content first').waitFor();
  await page.getByText('0 decisions, 0 contents shown').waitFor();
  // The address keeps the view.
  await page.reload();
  await ready(page);
});

it('shows a thumbnail clearly on request, which is logged, and lets it be decided', async () => {
  const { page } = await openDashboard(browser, run, '/review/grid');
  await ready(page);
  const thumbnails = asked(page);
  await page.locator(tile('picture-13')).click();
  const seq = Number((await selected(page).getAttribute('id'))!.replace('row-', ''));
  await page.evaluate(NOTE_CLEAR_IMAGES);
  await page.keyboard.press('t');
  await selected(page).locator('img.clear').waitFor();
  expect(await page.evaluate('clearImages.size'), 'the blurred image never passes for the clear one').toBe(1);
  expect(thumbnails.filter(({ revealed }) => revealed)).toEqual([{ seq, revealed: true }]);
  expect(await jsonLines(reveals())).toMatchObject([{ seq, kind: 'media' }]);
  await page.getByText('1 content shown in this tab').waitFor();
  await checkPage(page);
  // Blurred images make a large file.
  await page.setViewportSize({ width: 1280, height: 700 });
  await screenshot(page, 'dashboard-grid');
  await page.keyboard.press('3');
  await page.locator(`${tile('picture-13')} .reviewed:not(.saving)`).waitFor();
  expect(await jsonLines(join(run.out, '.decisions.jsonl'))).toMatchObject([{ seq, seen: true }]);
  await page.keyboard.press('k');
  await page.getByRole('button', { name: 'Blur the tile again' }).click();
  await selected(page).locator('img.blurred').waitFor();
});

it('shows the beginning of a text on request, which is logged, and nothing of a restricted item', async () => {
  const { page } = await openDashboard(browser, run, '/review/grid');
  await ready(page);
  await page.locator(tile('letter.csv')).click();
  await page.keyboard.press('t');
  await selected(page).getByText(LOUD).waitFor();
  await checkPage(page);
  const seq = Number((await selected(page).getAttribute('id'))!.replace('row-', ''));
  expect((await jsonLines(reveals())).at(-1)).toMatchObject({ seq, kind: 'content' });
  await page.keyboard.press('t');
  await expect.poll(() => page.getByText(LOUD).count()).toBe(0);
  await page.locator(tile('picture-99')).click();
  await page.keyboard.press('t');
  expect(await page.getByRole('button', { name: 'Show the tile clearly' }).isDisabled()).toBe(true);
  expect((await jsonLines(reveals())).at(-1)).toMatchObject({ seq });
});
