import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { problemsOf } from './watch.ts';

interface Options {
  /** Console errors that belong to the test, such as the answer to a wrong token. */
  readonly expected?: readonly RegExp[];
}

/**
 * Expects that nothing is wrong with a page as it is now: axe finds no barrier, nothing overflows sideways, and since it was
 * opened there was no violation of its Content-Security-Policy, no error, and no request off its origin.
 */
export async function checkPage(page: Page, { expected = [] }: Options = {}): Promise<void> {
  await page.evaluate(axe.source);
  // Frames are pages of their own, which are tested as such.
  const results: AxeResults = await page.evaluate(
    `axe.run(document, { iframes: false, resultTypes: ['violations'] })`,
  );
  const barriers = results.violations.flatMap(({ id, impact, help, nodes }) =>
    nodes.map(({ target }) => `${impact}: ${id}: ${help}: ${target.join(' ')}`),
  );
  const problems = problemsOf(page).filter((problem) => !expected.some((pattern) => pattern.test(problem)));
  const [width, room]: [number, number] = await page.evaluate(
    '[document.documentElement.scrollWidth, innerWidth]',
  );
  const tooWide = width > room ? [`overflows sideways: ${width} of ${room}`] : [];
  expect([...barriers, ...problems, ...tooWide]).toEqual([]);
}
