import type { Page } from 'playwright-core';

/** What went wrong in a page since it was opened, as lines. */
const problems = new WeakMap<Page, string[]>();

/** Runs in every document before its own scripts. */
const REPORT_VIOLATIONS = `addEventListener('securitypolicyviolation', (event) =>
  reportViolation(event.violatedDirective + ' ' + event.blockedURI));`;

/** Notes violations of the Content-Security-Policy, errors, and requests to anything but the origin of the page. */
export async function watch(page: Page): Promise<void> {
  const noted: string[] = [];
  problems.set(page, noted);
  await page.exposeFunction('reportViolation', (what: string) => noted.push(`violates the CSP: ${what}`));
  await page.addInitScript(REPORT_VIOLATIONS);
  page.on('console', (message) => {
    if (message.type() === 'error') noted.push(`console error: ${message.text()}`);
  });
  page.on('pageerror', (error) => noted.push(`uncaught: ${error.message}`));
  page.on('dialog', (dialog) => {
    noted.push(`opened a ${dialog.type()}`);
    void dialog.dismiss();
  });
  let origin: string | null = null;
  page.on('request', (request) => {
    const url = request.url();
    if (/^(data|blob|about):/.test(url)) return;
    // Files have no origin: none may ask for another one.
    const own = url.startsWith('file:') ? url.replace(/[?#].*/, '') : new URL(url).origin;
    origin ??= own;
    if (own !== origin) noted.push(`asked for ${url}`);
  });
}

export const problemsOf = (page: Page): readonly string[] => problems.get(page)!;
