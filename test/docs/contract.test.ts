import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const file = join(root, 'docs/contract.md');
const page = readFileSync(file, 'utf8');

/** A row of the table: its number, and where it is proved or why it is not. */
const ROW = /^(\| (C-\d{3}) +\|.*\|) *(.*?) *\|$/gm;
const rows = [...page.matchAll(ROW)].map(([, , number, where]) => ({ number: number!, where: where! }));

/** Folders of test with tests whose titles end with a row's number, by number. */
const proved = new Map<string, Set<string>>();
for (const path of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }).sort()) {
  if (!path.endsWith('.ts')) continue;
  for (const [, list] of readFileSync(join(root, 'test', path), 'utf8').matchAll(
    /\((C-\d{3}(?:, C-\d{3})*)\)['"`],/g,
  )) {
    for (const number of list!.split(', ')) {
      const folders = proved.get(number) ?? new Set();
      proved.set(number, folders.add(path.split(sep, 1)[0]!));
    }
  }
}

it('the page has every row of the contract', () => {
  const rowsBySection = [14, 29, 12, 28, 6, 3, 19, 15, 6];
  expect(rows.map(({ number }) => number)).toEqual(
    rowsBySection.flatMap((count, section) =>
      Array.from({ length: count }, (_, row) => `C-${(section + 1) * 100 + row + 1}`),
    ),
  );
});

it('a number in a title is that of a row', () => {
  const numbers = new Set(rows.map(({ number }) => number));
  expect([...proved.keys()].filter((number) => !numbers.has(number))).toEqual([]);
});

it('a row without a test says why', () => {
  const untested = rows.filter(({ number }) => !proved.has(number));
  for (const { number, where } of untested) expect(where, number).toMatch(/^(?:not ours|decided): /);
});

// `npx vitest run test/docs/contract.test.ts -u` writes the last column.
it('the page says where each row is proved', async () => {
  const written = page.replace(ROW, (_, start: string, number: string, where: string) => {
    const folders = proved.get(number);
    return `${start} ${folders ? [...folders].join(', ') : where} |`;
  });
  const style = await resolveConfig(join(root, 'package.json'));
  await expect(await format(written, { ...style, parser: 'markdown' })).toMatchFileSnapshot(file);
});
