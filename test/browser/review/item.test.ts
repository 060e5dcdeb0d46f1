import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { useBrowser } from '../../helpers/browser/browser.ts';
import { checkPage } from '../../helpers/browser/check-page.ts';
import { screenshot } from '../../helpers/browser/screenshot.ts';
import { openDashboard, show } from './dashboard-page.ts';
import { LOUD, PROBE, useHarmlessRun, WITHHELD } from './harmless-run.ts';

const browser = useBrowser();
const run = useHarmlessRun(20);

/** Path of the item whose id or path holds this. */
function itemAt(words: string): string {
  const line = run().lines.find(({ id, source }) => id.includes(words) || source.path.endsWith(words));
  return `/items/${line!.seq}`;
}

/** Notes the addresses that a page asks for from now on that end so. */
function asked(page: Page, end: RegExp): readonly string[] {
  const found: string[] = [];
  page.on('request', (request) => {
    if (end.test(request.url())) found.push(request.url());
  });
  return found;
}

it('a long text is shown when asked for, scrolled to what decided, and masked', async () => {
  const { page } = await openDashboard(browser, run(), itemAt('letter.txt'));
  const reveals = asked(page, /\/content$/);
  await page.getByText('Overall score at or above').waitFor();
  expect(reveals).toEqual([]);
  expect(await page.getByText(LOUD).count()).toBe(0);
  await show(page);
  const mark = page.locator('mark');
  expect(await mark.textContent()).toContain(LOUD);
  const box = await page.getByRole('region', { name: 'Text' }).boundingBox();
  const marked = await mark.boundingBox();
  expect(marked!.y).toBeGreaterThanOrEqual(box!.y);
  expect(marked!.y).toBeLessThan(box!.y + box!.height);
  await page.getByText('1 content shown in this tab').waitFor();
  await checkPage(page);
  await screenshot(page, 'dashboard-item-text');
  await page.keyboard.press('m');
  await expect.poll(() => mark.textContent()).not.toContain(LOUD);
  expect(await mark.textContent()).toContain('•');
  await page.keyboard.press('m');
  await page.keyboard.press('s');
  await expect.poll(() => page.getByText(LOUD).count()).toBe(0);
  expect(reveals).toHaveLength(1);
});

it('a conversation is shown as bubbles, with the turn that counts', async () => {
  const { page } = await openDashboard(browser, run(), itemAt('chat-1#4'));
  await show(page);
  const turns = page.locator('.turn');
  expect(await turns.count()).toBe(4);
  expect(await page.locator('.turn.counts').textContent()).toContain(LOUD);
  await checkPage(page);
  await screenshot(page, 'dashboard-item-conversation');
});

it('an image is blurred and grey until somebody asks, step by step', async () => {
  const { page } = await openDashboard(browser, run(), itemAt('market.png'));
  await show(page);
  const image = page.locator('.image-frame img');
  await image.waitFor();
  const filter = (): Promise<string> =>
    page.evaluate("getComputedStyle(document.querySelector('.image-frame img')).filter");
  expect(await filter()).toBe('blur(28px) grayscale(1)');
  expect(await image.getAttribute('src')).toMatch(/^blob:/);
  await checkPage(page);
  await screenshot(page, 'dashboard-item-image');
  await page.keyboard.press('b');
  expect(await filter()).toBe('blur(10px) grayscale(1)');
  await page.keyboard.press('b');
  expect(await filter()).toBe('grayscale(1)');
  await page.getByLabel('Colour').check();
  expect(await filter()).toBe('none');
  await page.keyboard.press('b');
  expect(await filter()).toBe('blur(28px) grayscale(1)');
  await page.keyboard.press('b');
  await page.keyboard.press('s');
  await page.keyboard.press('s');
  await image.waitFor();
  expect(await filter()).toBe('blur(28px) grayscale(1)');
});

it('a clip has a waveform, and no sound until somebody asks', async () => {
  const { page } = await openDashboard(browser, run(), itemAt('bells.wav'));
  const media = asked(page, /\/media$/);
  await show(page);
  await page.locator('.waveform path').waitFor();
  expect(media).toEqual([]);
  await page.getByRole('button', { name: 'Play' }).click();
  const audio = page.locator('audio');
  const muted = () => audio.evaluate((element) => (element as unknown as { muted: boolean }).muted);
  expect(await muted()).toBe(true);
  expect(media).toHaveLength(1);
  await page.getByLabel('Sound').check();
  expect(await muted()).toBe(false);
  const transcript = page.getByRole('region', { name: 'Transcript' });
  expect(await transcript.textContent()).toBe(`Bells and ${LOUD}.`);
  await page.getByLabel('Mask texts').check();
  expect(await transcript.textContent()).not.toContain(LOUD);
  await page.getByLabel('Mask texts').uncheck();
  await page.setViewportSize({ width: 1280, height: 620 });
  await checkPage(page);
  await screenshot(page, 'dashboard-item-clip');
});

it('a restricted item is never read: it says why, and what to do', async () => {
  const { page } = await openDashboard(browser, run(), itemAt('withheld-1'));
  const reads = asked(page, /\/(content|media)$/);
  await page.getByRole('heading', { name: 'This content is never shown' }).waitFor();
  await page.keyboard.press('s');
  await page.getByLabel('Show texts as I move').check();
  await page.keyboard.press('2');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('I decide on this restricted item').check();
  expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await dialog.getByLabel('Note: why').fill('reported');
  await checkPage(page);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.keyboard.press('u');
  await page.getByText('as the run').or(page.getByText('unlike the run')).waitFor();
  expect(await page.getByRole('button', { name: 'Show content' }).count()).toBe(0);
  expect(reads).toEqual([]);
  expect(await page.content()).not.toContain(WITHHELD);
  await checkPage(page);
});

it('what strangers wrote is text: ids, paths, roles, contents', async () => {
  const seen: string[] = [];
  for (const words of ['gnp.exe', `chat ${PROBE.slice(0, 5)}`, 'onerror=alert(1)>.txt']) {
    const { page } = await openDashboard(browser, run(), itemAt(words));
    await show(page);
    await page.locator('.text-box, .bubble').first().waitFor();
    await checkPage(page);
    expect(await page.title()).toMatch(/^Item \d+ · guardsweep$/);
    expect(await page.locator('main img, main script').count()).toBe(0);
    seen.push(await page.locator('main').innerText());
  }
  expect(seen[0]).toContain(`${PROBE}\\u{202e}gnp.exe`);
  expect(seen[0]).toContain(`${PROBE} [U+202E]right to left`);
  expect(seen[2]).toContain('<img src=x onerror=alert(1)>.txt');
});
