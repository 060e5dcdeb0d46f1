import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { expect, it } from 'vitest';
import { expectFile } from '../config/settings/markdown-list.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const PAGE = 'docs/writing-a-guard.md';
const lines = read(PAGE).split('\n');

/** The cells of a row of the table: number, statement, and where it is proved or why it is not. */
function cellsOf(line: string): { number: string; statement: string; where: string } | null {
  const [, number, statement, where] = line.split('|').map((cell) => cell.trim());
  return number?.startsWith('C-') ? { number, statement: statement!, where: where! } : null;
}
const rows = lines.map(cellsOf).filter((row) => row !== null);

/** The numbers at the end of a test's title. */
const IN_TITLE = /\((C-\d{3}(?:, C-\d{3})*)\)['"`],/g;

/** Where rows are proved or decided, by their numbers. */
const places = new Map<string, Set<string>>();
function addPlace(numbers: readonly string[], place: string): void {
  for (const number of numbers) places.set(number, (places.get(number) ?? new Set()).add(place));
}
for (const path of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).sort()) {
  if (!path.endsWith('.ts')) continue;
  for (const [, list] of read(`test/${path}`).matchAll(IN_TITLE)) {
    addPlace(list!.split(', '), path.split(sep, 1)[0]!);
  }
}
const [decisions] = read(PAGE).split('\n## The contract, row by row\n');
addPlace(decisions!.match(/\bC-\d{3}\b/g)!, 'decided above');

it('the page has every row of the contract', () => {
  const rowsBySection = [14, 29, 12, 28, 6, 3, 19, 15, 6];
  expect(rows.map(({ number }) => number)).toEqual(
    rowsBySection.flatMap((count, section) =>
      Array.from({ length: count }, (_, row) => `C-${(section + 1) * 100 + row + 1}`),
    ),
  );
});

it('a number in a title or among the open points is that of a row', () => {
  const numbers = new Set(rows.map(({ number }) => number));
  expect([...places.keys()].filter((number) => !numbers.has(number))).toEqual([]);
});

it('a row without a test or a decision says why', () => {
  for (const { number, where } of rows) {
    if (!places.has(number)) expect(where, number).toMatch(/^not ours: /);
  }
});

// `npx vitest run test/docs/contract.test.ts -u` writes the last column.
it('the page says where each row is proved', async () => {
  const written = lines.map((line) => {
    const row = cellsOf(line);
    const found = row && places.get(row.number);
    return found ? `| ${row.number} | ${row.statement} | ${[...found].join(', ')} |` : line;
  });
  await expectFile(PAGE, written.join('\n'));
});
