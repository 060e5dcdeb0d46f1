import { expect, test } from 'vitest';
import { columnNotes } from '../../../src/cli/run/column-notes.ts';

test('names columns once for all files that have the same, and not without end', () => {
  const many = Array.from({ length: 30 }, (_, at) => ({ path: `t${at}.csv`, columns: [`"c${at}"`] }));
  const notes = columnNotes({
    unjudgedColumns: [
      { path: 'a.csv', columns: ['"x"', '"y"'] },
      { path: 'b.csv', columns: ['"z"'] },
      { path: 'c.csv', columns: ['"x"', '"y"'] },
      { path: 'd.csv', columns: ['"x"', '"y"'] },
    ],
    withoutText: many,
    withoutHeader: ['a.csv', 'b.csv', 'c.csv'],
    fittedHeaders: ['mturk.csv'],
  });
  expect(notes.slice(0, 5)).toEqual([
    'Read without a header, with the first row as data: a.csv and 2 more files (--header yes|no)',
    "Read with the width of the rows, which is not the header's: mturk.csv",
    'Columns not judged in a.csv and 2 more files: "x", "y" (--text-column)',
    'Columns not judged in b.csv: "z" (--text-column)',
    'No text column was recognised in t0.csv: choose with --text-column among "c0"',
  ]);
  expect(notes).toHaveLength(9);
  expect(notes.at(-1)).toBe('… and 26 more such lines');
});
