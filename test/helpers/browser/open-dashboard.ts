import type { Page } from 'playwright-core';
import type { ServedDashboard } from '../dashboard.ts';

/** Opens a page of the dashboard and logs in, with the token in the address as `guardsweep serve` prints it. */
export async function openDashboard(
  page: Page,
  { origin, token }: Pick<ServedDashboard, 'origin' | 'token'>,
  path = '/',
): Promise<void> {
  await page.goto(`${origin}${path}#token=${token}`);
  await page.getByText('Live', { exact: true }).waitFor();
}
