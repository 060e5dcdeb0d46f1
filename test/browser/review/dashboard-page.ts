import type { Page } from 'playwright-core';
import { serveDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';
import type { TestBrowser, View } from '../../helpers/browser/browser.ts';
import type { HarmlessRun } from './harmless-run.ts';

export interface OpenedDashboard {
  readonly page: Page;
  readonly served: ServedDashboard;
  /** Path of the run in the API. */
  readonly api: string;
  /** Path of the run's pages. */
  readonly pages: string;
}

/** The dashboard over a run, with a page that is logged in and shows `at` below the run. */
export async function openDashboard(
  browser: TestBrowser,
  run: HarmlessRun,
  at: string,
  view?: View,
): Promise<OpenedDashboard> {
  const served = await serveDashboard({ out: run.out, roots: [run.out, run.corpus] });
  const page = await browser.newPage(view);
  const pages = `/runs/${encodeURIComponent(run.name)}`;
  await page.goto(`${served.origin}${pages}${at}#token=${served.token}`);
  return { page, served, api: `/api${pages}`, pages };
}

/** The list of a page, when its rows are there. */
export async function listOf(page: Page): Promise<void> {
  await page.getByRole('listbox', { name: 'Items' }).waitFor();
}
