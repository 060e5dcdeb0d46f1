import { expect, it } from 'vitest';
import { temporaryFolder } from '../helpers/cli.ts';
import { useBrowser } from '../helpers/browser/browser.ts';
import { checkPage } from '../helpers/browser/check-page.ts';
import { screenshot } from '../helpers/browser/screenshot.ts';
import { serveDashboard } from '../helpers/dashboard.ts';

const browser = useBrowser();

/** What the browser's console says of every answer 401, by its own. */
const REFUSED = /Failed to load resource: .* 401/;

const heading = { name: 'Runs', exact: true, level: 1 } as const;

it('logs in with the token in the address, and takes it out of the address bar', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage();
  await page.goto(`${origin}/login#token=${token}`);
  await page.getByRole('heading', heading).waitFor();
  expect(page.url()).toBe(`${origin}/`);
  await page.goBack();
  expect(page.url()).not.toContain(token);
});

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

it('logs out, and asks for the token again', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage({ size: 'phone', scheme: 'dark' });
  await page.goto(`${origin}/login#token=${token}`);
  await page.getByRole('heading', heading).waitFor();
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByLabel('Token').waitFor();
  await checkPage(page, { expected: [REFUSED] });
  await page.reload();
  await page.getByLabel('Token').waitFor();
});

it('keeps colours that were chosen, and says which ones', async () => {
  const { origin } = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage();
  const background = (): Promise<string> =>
    page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
  await page.goto(origin);
  const light = await background();
  await page.getByRole('button', { name: 'Colours: System' }).click();
  await page.getByRole('button', { name: 'Colours: Light' }).click();
  const dark = await background();
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole('button', { name: 'Colours: Dark' }).waitFor();
  expect(await background()).toBe(dark);
});

it('says that the server cannot be reached, and tries again', async () => {
  const served = await serveDashboard({ out: await temporaryFolder() });
  const page = await browser.newPage();
  await page.goto(`${served.origin}/login#token=${served.token}`);
  await page.getByText('Live', { exact: true }).waitFor();
  await served.close();
  await page.getByText('Connection lost, trying again').waitFor();
});
