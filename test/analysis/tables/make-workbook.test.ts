import { unzipSync } from 'fflate';
import { expect, it, onTestFinished } from 'vitest';
import { MANY_ROWS, WorkbookMaker } from '../../../src/analysis/tables/make-workbook.ts';
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

/** A maker that is closed when the test ends. */
function workbookMaker(signal: AbortSignal): WorkbookMaker {
  const maker = new WorkbookMaker(COLUMNS, signal);
  onTestFinished(() => maker.close());
  return maker;
}

it('makes the same workbooks in a thread', async () => {
  const maker = workbookMaker(signal);
  for (const rows of [MANY_ROWS, MANY_ROWS + 1, MANY_ROWS + 2, 1]) {
    const bytes = await maker.make(part(rows));
    expect(unzipSync(bytes)['xl/worksheets/sheet1.xml']).toEqual(
      unzipSync(await workbookBytes(COLUMNS, part(rows)))['xl/worksheets/sheet1.xml'],
    );
  }
});

it('stops its thread when it is aborted', async () => {
  const abort = new AbortController();
  const making = workbookMaker(abort.signal).make(part(MANY_ROWS + 1));
  abort.abort(new Error('enough'));
  await expect(making).rejects.toThrow('enough');
});
