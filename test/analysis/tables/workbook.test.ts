import { unzipSync } from 'fflate';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import { outcomeLine } from '../../record/outcome-line.ts';
import { tablesOf } from './tables-of.ts';

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
  return [1, 2].map((sheet) => {
    const xml = new TextDecoder().decode(files[`xl/worksheets/sheet${sheet}.xml`]);
    const cells = new Map<string, string | number>();
    for (const [, address, text, value] of xml.matchAll(
      /<c r="([A-Z]+\d+)"[^>]*>(?:<is><t[^>]*>([^<]*)<\/t><\/is>|<v>([^<]*)<\/v>)<\/c>/g,
    ))
      cells.set(address!, text === undefined ? Number(value) : unescaped(text));
    return { xml, cells };
  });
}

async function bytesOf(lines: readonly OutcomeLine[]): Promise<Buffer> {
  return (await tablesOf(lines, { output: { includeContent: true } })).get('flagged.xlsx')!;
}

const FLAGGED = outcomeLine({ decision: 'block', decided_by: 'flagged', flagged: true, score: 0.93 });

it.each([
  ['=HYPERLINK("http://a.test","x")', '=HYPERLINK("http://a.test","x")'],
  ['<script>&amp;"', '<script>&amp;"'],
  ['a\0b\x1b\u202e\ud800', 'a\\x00b\\x1b\\u{202e}\ufffd'],
  ['_x003D_1', '_x005F_x003D_1'],
  ['__proto__', '__proto__'],
  ['x'.repeat(40_000), `${'x'.repeat(1000)}…`],
])('flagged.xlsx has a hostile text as a text: %j', async (id, shown) => {
  const bytes = await bytesOf([{ ...FLAGGED, id, source: { ...FLAGGED.source, path: id }, snippet: id }]);
  const [sheet] = sheetsIn(bytes);
  expect([...sheet!.cells.values()].filter((value) => value === shown)).toHaveLength(3);
  expect(sheet!.xml).not.toMatch(/<f>|hyperlink/);
  expect(Object.keys(unzipSync(bytes)).filter((name) => /external|drawing\d/.test(name))).toEqual([]);
});
