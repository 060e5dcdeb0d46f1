import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');

/** The attacks: what was tried, what comes of it, and the test. */
const attacks = page
  .split(/\n(?=- \*\*|\n)/)
  .map((entry) => entry.trim().replaceAll(/\n +/g, ' '))
  .filter((entry) => entry.startsWith('- **'));

test.each(attacks)('an attack names a test that is there: %s', (entry) => {
  const [, file = '', title = ''] = /^- \*\*.+?:\*\* .+ \(`(test\/[^`]+)` "(.+)"\)$/.exec(entry) ?? [];
  expect(existsSync(join(root, file)), file).toBe(true);
  expect(readFileSync(join(root, file), 'utf8')).toContain(title);
});

test('attacks are found on the page', () => {
  expect(attacks.length).toBeGreaterThan(60);
});
