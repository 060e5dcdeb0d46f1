import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import { makeWorkbook, MANY_ROWS } from '../../../src/analysis/tables/make-workbook.ts';
import { flaggedColumns } from '../../../src/analysis/tables/table-columns.ts';
import { workbookBytes, type WorkbookPart } from '../../../src/analysis/tables/workbook.ts';

const COLUMNS = flaggedColumns({
  sources: [],
  output: { dir: '', formats: [], csvSeparator: ',', includeContent: false },
});
const { signal } = new AbortController();

function part(count: number): WorkbookPart {
  const rows = Array.from({ length: count }, (_, seq) =>
    COLUMNS.map(({ type }) => (type === 'number' ? seq : 'block')),
  );
  return { rows, before: 0, total: count, next: null };
}

it.each([MANY_ROWS, MANY_ROWS + 1])('makes the same workbook of %i rows in a thread', async (rows) => {
  const bytes = await makeWorkbook(COLUMNS, part(rows), signal);
  expect(unzipSync(bytes)['xl/worksheets/sheet1.xml']).toEqual(
    unzipSync(await workbookBytes(COLUMNS, part(rows)))['xl/worksheets/sheet1.xml'],
  );
});

it('stops its thread when it is aborted', async () => {
  const abort = new AbortController();
  const making = makeWorkbook(COLUMNS, part(MANY_ROWS + 1), abort.signal);
  abort.abort(new Error('enough'));
  await expect(making).rejects.toThrow('enough');
});
