import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { RunConfig } from '../../../src/config/run-config.ts';
import { notJudgedInBrief } from '../../../src/domain/words/not-judged.ts';
import { finishedSummary } from '../../../src/record/summary/finished-summary.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { corpusAt, runConfig } from '../../helpers/run-config.ts';
import { createdFrom, go, judge, type Run } from '../../runs/small-run.ts';

const PSD = Buffer.from('8BPS\0\x01\0\0\0\0\0\0\0\x03', 'latin1');

async function finishedRun(
  files: Readonly<Record<string, string | Buffer>>,
  refuse: Parameters<typeof judge>[0] = {},
  output: Partial<RunConfig['output']> = {},
): Promise<Run> {
  const folder = await temporaryFolder();
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  for (const [name, content] of Object.entries(files)) await writeFile(join(uploads, name), content);
  const config = runConfig(join(folder, 'runs'), [corpusAt(uploads)]);
  const run = await createdFrom({ ...config, output: { ...config.output, ...output } });
  await go(run, judge(refuse));
  return run;
}

const account = async ({ dir }: Run): Promise<string[][]> =>
  parse(await readFile(join(dir, 'not-judged.csv')), { bom: true });

it('not-judged.csv says by cause and kind of file what was not judged, and what would help', async () => {
  const run = await finishedRun(
    {
      'a.csv': 'id,text\n1,fine\n2,late\n3,late\n4,\n',
      'b.jsonl': '{"text":"fine"}\n{"text":"late"}\n{"text"',
      'c.PSD': PSD,
      'd.psd': Buffer.concat([PSD, PSD]),
      'e.xyz': Buffer.from([0, 1, 2, 3, 0xff, 0xfe, 0]),
      'f.txt': '',
    },
    { refuse: (request) => (JSON.stringify(request).includes('late') ? 'TIMEOUT' : null) },
    { formats: ['jsonl'] },
  );
  const [head, ...rows] = await account(run);
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
