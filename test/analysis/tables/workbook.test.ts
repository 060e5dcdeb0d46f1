import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { MANY_ROWS, makeWorkbook } from '../../../src/analysis/tables/make-workbook.ts';
import { flaggedColumns } from '../../../src/analysis/tables/table-columns.ts';
import { workbookBytes } from '../../../src/analysis/tables/workbook.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { outcomeLine } from '../../record/outcome-line.ts';
import { tablesOf } from './tables-of.ts';
import { finishedRun, resultOf, shardOf, verdict } from '../../record/run-fixture.ts';

interface Sheet {
  readonly xml: string;
  /** Cells by address, such as `A1`: texts and numbers. */
  readonly cells: ReadonlyMap<string, string | number>;
}

function unescaped(xml: string): string {
  return xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

function sheetsIn(bytes: Uint8Array): Sheet[] {
  const files = unzipSync(bytes);
  const text = (name: string): string => new TextDecoder().decode(files[name]);
  const shared = [...text('xl/sharedStrings.xml').matchAll(/<t[^>]*>([^<]*)<\/t>/g)].map(([, value]) =>
    unescaped(value!),
  );
  return [1, 2].map((sheet) => {
    const xml = text(`xl/worksheets/sheet${sheet}.xml`);
    const cells = new Map<string, string | number>();
    for (const [, attributes, value] of xml.matchAll(/<c ([^>]*)><v>([^<]*)<\/v><\/c>/g)) {
      const address = /r="([A-Z]+\d+)"/.exec(attributes!)![1]!;
      cells.set(address, attributes!.includes('t="s"') ? shared[Number(value)]! : Number(value));
    }
    return { xml, cells };
  });
}

async function bytesOf(lines: readonly OutcomeLine[]): Promise<Buffer> {
  return (await tablesOf(lines, { output: { includeContent: true } })).get('flagged.xlsx')!;
}

const FLAGGED = outcomeLine({ decision: 'block', decided_by: 'flagged', flagged: true, score: 0.93 });

describe('flagged.xlsx', () => {
  it('has numbers and times as such, and a frozen header', async () => {
    const [sheet] = sheetsIn(await bytesOf([FLAGGED]));
    const { cells, xml } = sheet!;
    expect(['A1', 'B1', 'C1', 'A2', 'B2', 'C2'].map((address) => cells.get(address))).toEqual([
      ...['Decision', 'Decided by', 'Score'],
      ...['block', 'Flagged by the guard', 0.93],
    ]);
    expect(xml).toContain('state="frozen"');
    const [address] = [...cells].find(([, value]) => value === 'Judged at (UTC)')!;
    const letters = address.slice(0, -1);
    // Days since 1899-12-30.
    expect(cells.get(`${letters}2`)).toBeCloseTo(Date.UTC(2026, 10, 21, 2, 0, 3) / 86_400_000 + 25_569, 6);
  });

  it.each([
    ['=HYPERLINK("http://a.test","x")', '=HYPERLINK("http://a.test","x")'],
    ['<script>&amp;"', '<script>&amp;"'],
    ['a\0b\x1b\u202e\ud800', 'a\\x00b\\x1b\\u{202e}?'],
    ['_x003D_1', '_x005F_x003D_1'],
    ['constructor', '_x0063_onstructor'],
    ['__proto__', '_x005f__proto__'],
    ['x'.repeat(40_000), `${'x'.repeat(1000)}…`],
  ])('has a hostile text as a text: %j', async (id, shown) => {
    const bytes = await bytesOf([{ ...FLAGGED, id, source: { ...FLAGGED.source, path: id }, snippet: id }]);
    const [sheet] = sheetsIn(bytes);
    expect([...sheet!.cells.values()].filter((value) => value === shown)).toHaveLength(3);
    expect(sheet!.xml).not.toMatch(/<f>|hyperlink/);
    expect(Object.keys(unzipSync(bytes)).filter((name) => /external|drawing\d/.test(name))).toEqual([]);
  });

  it('is verified by its hash, like any other file', async () => {
    const flagged = resultOf(shardOf(0, [0, 1, 2, 3, 4]), (item) => verdict(item, { flagged: true }));
    const { dir, summary } = await finishedRun([flagged]);
    expect(summary.files).toContain('flagged.xlsx');
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
    const path = join(dir, 'flagged.xlsx');
    const bytes = await readFile(path);
    bytes[bytes.length >> 1]! ^= 1;
    await writeFile(path, bytes);
    expect(await verifyRun(dir)).toMatchObject({ ok: false });
  });

  it('says where the other rows are', async () => {
    const flagged = resultOf(shardOf(0, [0, 1, 2, 3, 4]), (item) => verdict(item, { flagged: true }));
    const bounds = { csvRows: 999_999, workbookRows: 2 };
    const { dir } = await finishedRun([flagged], { flaggedBounds: bounds });
    const about = sheetsIn(await readFile(join(dir, 'flagged.xlsx')))[1]!.cells;
    expect([...about.values()].slice(1, 4)).toEqual([
      '2 of 5, the most severe first',
      'More rows',
      'In flagged.csv',
    ]);
  });

  it('of many rows is made in a thread, which ends when the run is aborted', async () => {
    const columns = flaggedColumns({
      sources: [],
      output: { dir: '', formats: [], csvSeparator: ',', includeContent: false },
    });
    const rows = Array.from({ length: MANY_ROWS + 1 }, (_, seq) =>
      columns.map(({ type }) => (type === 'number' ? seq : 'block')),
    );
    const flagged = () => ({
      batches: Readable.from([rows.slice(0, 9), rows.slice(9)]),
      rows: rows.length,
      total: rows.length,
    });
    const abort = new AbortController();
    const [made, here] = [
      await makeWorkbook(columns, flagged(), abort.signal),
      await workbookBytes(columns, rows, rows.length),
    ].map((bytes) => unzipSync(bytes)['xl/worksheets/sheet1.xml']);
    expect(made).toEqual(here);
    const making = makeWorkbook(columns, flagged(), abort.signal);
    abort.abort(new Error('enough'));
    await expect(making).rejects.toThrow('enough');
  });
});
