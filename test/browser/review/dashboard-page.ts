import type { Page } from 'playwright-core';
import { serveDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';
import type { TestBrowser, View } from '../../helpers/browser/browser.ts';
import type { HarmlessRun } from './harmless-run.ts';

export interface OpenedDashboard {
  readonly page: Page;
  readonly served: ServedDashboard;
  /** What the server was started with. */
  readonly options: Parameters<typeof serveDashboard>[0];
  /** Path of the run in the API. */
  readonly api: string;
  /** Path of the run's pages. */
  readonly pages: string;
}

/** Who reviews: the browser keeps their name. */
export const REVIEWER = 'Ada';

/** The dashboard over a run, with a page that is logged in, by the right to release if there is one, and shows `at` below the run. */
export async function openDashboard(
  browser: TestBrowser,
  run: Pick<HarmlessRun, 'out' | 'name' | 'corpus'>,
  at: string,
  view?: View,
  releaseToken: string | null = null,
): Promise<OpenedDashboard> {
  const options = { out: run.out, roots: [run.out, run.corpus], releaseToken };
  const served = await serveDashboard(options);
  const page = await browser.newPage(view);
  await page.addInitScript(`localStorage.setItem('guardsweep.reviewer', '${REVIEWER}')`);
  const pages = `/runs/${encodeURIComponent(run.name)}`;
  await page.goto(`${served.origin}${pages}${at}#token=${releaseToken ?? served.token}`);
  return { page, served, options, api: `/api${pages}`, pages };
}

/** Decides on the selected item by a key, once its content is shown; on a restricted one with a confirmation and a note. */
export async function decide(page: Page, key: string, restricted = false): Promise<void> {
  if (restricted) {
    await page.getByRole('heading', { name: 'This content is never shown' }).waitFor();
    await page.keyboard.press(key);
    await page.getByLabel('Note: why').fill('reported');
    await page.getByLabel('I decide on this restricted item').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    return;
  }
  await show(page);
  await page.keyboard.press(key);
}

/** Asks for the content of the selected item. */
export async function show(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Show content' }).waitFor();
  await page.keyboard.press('s');
  await page.getByRole('button', { name: 'Hide' }).waitFor();
}

/** The selected row of a list. */
export const selected = '[role=option][aria-selected=true]';

/** The list of a page, when its rows are there. */
export async function listOf(page: Page): Promise<void> {
  await page.getByRole('listbox', { name: 'Items' }).waitFor();
}
