import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { unzipSync } from 'fflate';
import type { Outcome } from '../../../src/domain/outcome.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import type { Item } from '../../../src/domain/item.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { finishedRun, WITH_TABLES } from '../../record/run-fixture.ts';
import { resultOf, shardOf, verdict } from '../../record/shards.ts';
import { notJudgedInBrief } from '../../../src/domain/words/not-judged.ts';
import { finishedSummary } from '../../../src/record/summary/finished-summary.ts';
import { folderWith } from '../../helpers/cli.ts';
import { corpusAt, runConfig } from '../../helpers/run-config.ts';
import { createdFrom, go, judge } from '../../runs/small-run.ts';
import { outcomeLine } from '../../record/outcome-line.ts';
import { tablesOf } from './tables-of.ts';

/** Flags items under these categories, with a score each. */
function flagging(given: readonly (readonly [score: number, flags: readonly string[] | null])[]) {
  return (item: Item): Outcome => {
    const [score, subcategoryFlags] = given[item.seq]!;
    const { judgement } = verdict(item, { flagged: score >= 0.5, score });
    return { judgement: { ...judgement!, subcategoryScores: null, subcategoryFlags }, failure: null };
  };
}

it('flagged.csv is in order of severity, and says in words what was flagged and why', async () => {
  const given = [
    [0.4, null],
    [0.9, ['hate', 'suicide_self_harm']],
    [0.1, null],
    [0.95, ['made up']],
    [0.7, []],
    [0.9, ['privacy']],
  ] as const;
  const shard = shardOf(0, [0, 1, 2, 3, 4, 5]);
  const { dir, summary } = await finishedRun([resultOf(shard, flagging(given))], {
    ...WITH_TABLES,
    policy: { ...DEFAULT_POLICY, thresholds: { default: { review: 0.3, block: 0.8 } } },
  });
  const table = await readFile(join(dir, 'flagged.csv'));
  const rows: Record<string, string>[] = parse(table, { bom: true, columns: true });
  expect(Object.keys(rows[0]!).slice(0, 12)).toEqual(
    'decision decided_by score flagged_categories guard_flagged path row line part turn id seq'.split(' '),
  );
  const high = 'Overall score at or above 0.8';
  const low = 'Overall score at or above 0.3';
  expect(
    rows.map((row) => [row['seq'], row['decision'], row['decided_by'], row['flagged_categories']]),
  ).toEqual([
    ['3', 'block', high, 'made up'],
    ['1', 'block', high, 'Hate; Suicide & Self-Harm'],
    ['5', 'block', high, 'Privacy'],
    ['4', 'review', low, 'No category'],
    ['0', 'review', low, 'No category'],
  ]);
  expect(rows.map((row) => row['guard_flagged'])).toEqual(['yes', 'yes', 'yes', 'yes', 'no']);
  const without = rows.filter((row) => row['flagged_categories'] === 'No category');
  expect(summary.decisions_without_category).toEqual({ allow: 0, review: without.length, block: 0 });
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
});

const PSD = Buffer.from('8BPS\0\x01\0\0\0\0\0\0\0\x03', 'latin1');

it('not-judged.csv says by cause and kind of file what was not judged, and what would help', async () => {
  const folder = await folderWith({
    'uploads/a.csv': 'id,text\n1,fine\n2,late\n3,late\n4,\n',
    'uploads/b.jsonl': '{"text":"fine"}\n{"text":"late"}\n{"text"',
    'uploads/c.PSD': PSD,
    'uploads/d.psd': Buffer.concat([PSD, PSD]),
    'uploads/e.xyz': Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 0]),
    'uploads/f.txt': '',
  });
  const config = runConfig(join(folder, 'runs'), [corpusAt(join(folder, 'uploads'))]);
  const run = await createdFrom(config);
  await go(run, judge({ refuse: (each) => (JSON.stringify(each).includes('late') ? 'TIMEOUT' : null) }));
  const table = await readFile(join(run.dir, 'not-judged.csv'));
  const [head, ...rows]: string[][] = parse(table, { bom: true });
  expect(head).toEqual(
    'code reason kind_of_file items whole_files bytes_of_whole_files what_would_help'.split(' '),
  );
  const late =
    'the guard did not answer, or a file was not decoded, in time; judge it again with guardsweep retry';
  expect(rows).toEqual([
    ['TIMEOUT', '', 'csv', '2', '0', '', late],
    ['UNSUPPORTED_TYPE', 'file_type', 'psd', '2', '2', '42', 'convert it to PNG'],
    ['EMPTY_CONTENT', '', 'csv', '1', '0', '', expect.stringContaining('blank text or an empty file')],
    ['EMPTY_CONTENT', '', 'txt', '1', '1', '0', expect.stringContaining('blank text or an empty file')],
    ['MALFORMED_ROW', '', 'jsonl', '1', '0', '', expect.stringContaining('correct it at the line')],
    ['TIMEOUT', '', 'jsonl', '1', '0', '', late],
    ['UNSUPPORTED_TYPE', 'file_type', 'xyz', '1', '1', '7', expect.stringContaining('leave it out')],
  ]);
  const summary = (await finishedSummary(run.dir))!;
  const items = rows.reduce((sum, row) => sum + Number(row[3]), 0);
  const files = rows.reduce((sum, row) => sum + Number(row[4]), 0);
  expect(summary).toMatchObject({ errors: items, whole_files_not_judged: files });
  expect(summary.rows['not-judged.csv']).toBe(rows.length);
  expect(notJudgedInBrief(summary)).toBe('9 not judged, among them 4 whole files whose content nobody knows');
});

function unescaped(xml: string): string {
  return xml
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/** The texts in the cells of a sheet. */
const textsIn = (xml: string): string[] =>
  [...xml.matchAll(/<c r="[A-Z]+\d+"[^>]*><is><t[^>]*>([^<]*)<\/t><\/is><\/c>/g)].map(([, text]) =>
    unescaped(text!),
  );

const FLAGGED = outcomeLine({ decision: 'block', decided_by: 'flagged', flagged: true, score: 0.93 });

it.each([
  ['=HYPERLINK("http://a.test","x")', '=HYPERLINK("http://a.test","x")'],
  ['<script>&amp;"', '<script>&amp;"'],
  ['a\0b\x1b\u202e\ud800', 'a\\x00b\\x1b\\u{202e}\ufffd'],
  ['_x003D_1', '_x005F_x003D_1'],
  ['__proto__', '__proto__'],
  ['x'.repeat(40_000), `${'x'.repeat(1000)}…`],
])('flagged.xlsx has a hostile text as a text: %j', async (id, shown) => {
  const lines = [{ ...FLAGGED, id, source: { ...FLAGGED.source, path: id }, snippet: id }];
  const files = unzipSync((await tablesOf(lines, { includeContent: true })).get('flagged.xlsx')!);
  const xml = new TextDecoder().decode(files['xl/worksheets/sheet1.xml']);
  expect(textsIn(xml).filter((text) => text === shown)).toHaveLength(3);
  expect(xml).not.toMatch(/<f>|hyperlink/);
  expect(Object.keys(files).filter((name) => /external|drawing\d/.test(name))).toEqual([]);
});
