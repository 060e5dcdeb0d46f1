import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { serveDashboard } from '../helpers/dashboard.ts';

const browser = useBrowser();

/** What the browser's console says of every answer 401, by its own. */
const REFUSED = /Failed to load resource: .* 401/;

it('asks for a token, says at its field that it is wrong, and goes on to the page that was asked for', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage();
  await page.goto(`${origin}/runs/some-run/report`);
  const field = page.getByLabel('Token');
  await field.waitFor();
  await checkPage(page, { expected: [REFUSED] });
  await screenshot(page, 'login');

  await field.fill('wrong');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'not the token' }).waitFor();
  expect(await field.getAttribute('aria-invalid')).toBe('true');

  await field.fill(token);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'some-run' }).waitFor();
  expect(page.url()).toBe(`${origin}/runs/some-run/report`);
});

it('logs in with the token in the address, takes it out of the address bar, and logs out', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage({ size: 'phone', scheme: 'dark' });
  await page.goto(`${origin}/login#token=${token}`);
  await page.getByRole('heading', { name: 'Runs', exact: true, level: 1 }).waitFor();
  expect(page.url()).toBe(`${origin}/`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await checkPage(page, { expected: [REFUSED] });
  await page.goBack();
  expect(page.url()).not.toContain(token);
});
