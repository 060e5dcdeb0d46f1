import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = new URL('../..', import.meta.url).pathname;
const page = readFileSync(join(root, 'docs/security.md'), 'utf8');

/** A row of a table: its cells, from the attack to the test. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (?:attack|-)/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  );

test.each(rows)('the attack "%s" names a test that is there', (...cells) => {
  expect(cells).toHaveLength(4);
  const [, file = '', title = ''] = /^`(test\/[^`]+)` "(.+)"$/.exec(cells[3]!) ?? [];
  expect(existsSync(join(root, file)), file).toBe(true);
  expect(readFileSync(join(root, file), 'utf8')).toContain(title);
});

test('every attack is in a row', () => {
  expect(rows.length).toBeGreaterThan(60);
});
