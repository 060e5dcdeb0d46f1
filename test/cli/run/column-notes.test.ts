import { expect, test } from 'vitest';
import { columnNotes } from '../../../src/cli/run/column-notes.ts';

test('names columns once for all files that have the same, and not without end', () => {
  const many = Array.from({ length: 30 }, (_, at) => ({ path: `t${at}.csv`, columns: [`"c${at}"`] }));
  const notes = columnNotes({
    tables: [
      { path: 'e.csv', files: 2, judged: ['"Betreff"', '"Text"'], chosen_by: 'content', not_judged: [] },
      { path: 'f.csv', files: 1, judged: ['"text"'], chosen_by: 'name', not_judged: [] },
    ],
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
  expect(notes.slice(0, 6)).toEqual([
    'Read without a header, with the first row as data: a.csv and 2 more files (--header yes|no)',
    "Read with the width of the rows, which is not the header's: mturk.csv",
    'Judged as text by what they hold, in e.csv and 1 more file: "Betreff", "Text" (--text-column for others)',
    'Columns not judged in a.csv and 2 more files: "x", "y" (--text-column)',
    'Columns not judged in b.csv: "z" (--text-column)',
    'No text column was recognised in t0.csv: choose with --text-column among "c0"',
  ]);
  expect(notes).toHaveLength(10);
  expect(notes.at(-1)).toBe('… and 26 more such lines');
});
