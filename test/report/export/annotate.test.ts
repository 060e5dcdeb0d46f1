import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Judge } from '../../../src/moderate/parts/judge-parts.ts';
import { judgeBy, judgement } from '../../helpers/moderation.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { jsonl } from '../../helpers/documents.ts';
import { byWords, exported, judgedRun } from './judged-run.ts';
import { rounds } from '../../helpers/corpus.ts';

type Row = Record<string, unknown>;

async function annotated(
  cwd: string,
  name: string,
  content: string | Buffer,
  flags: readonly string[] = [],
  judge: Judge = byWords,
) {
  await writeFile(join(cwd, name), content);
  const dir = await judgedRun(cwd, [name], { judge });
  const out = `out-${name}`;
  const { status, stderr, result } = await exported(cwd, dir, '--annotate', out, ...flags);
  const bytes = status === 2 ? null : await readFile(join(cwd, out));
  return { status, stderr, result, bytes, text: bytes?.toString() ?? '' };
}

describe('annotated rows', () => {
  it('of JSON Lines have a last member, and are otherwise as they were', async () => {
    const cwd = await temporaryFolder();
    const lines = [
      '{"text": "a",  "n": 1.50 } ',
      '{"text":"BLOCK"}',
      '{"text":"FAIL"}',
      '',
      '{"text":"PART"}',
    ];
    const { status, text, result } = await annotated(cwd, 'a.jsonl', `\ufeff${lines.join('\r\n')}`);
    expect(status).toBe(0);
    expect(result!.rows).toEqual({ kept: 4, rejected: 0 });
    const found = text.split('\r\n');
    expect(found[0]).toMatch(
      /^\ufeff\{"text": "a", {2}"n": 1\.50 ,"moderation":\{"decision":"allow",.*\}\} $/,
    );
    expect(found[3]).toBe('');
    const moderation = [1, 2].map((line) => (JSON.parse(found[line]!) as Row)['moderation']);
    expect(moderation).toEqual([
      { decision: 'block', score: 0.95, categories: ['hate'], decided_by: 'score>=0.8', error: null },
      { decision: null, score: null, categories: null, decided_by: null, error: 'GUARD_INTERNAL' },
    ]);
  });

  it('of a table have further columns, whatever its dialect and encoding; no added cell is a formula', async () => {
    const cwd = await temporaryFolder();
    const subcategoryFlags = ['=cmd|"x"!A0;', 'h\u00e4te', 'a\r\nb'];
    const flagged = judgement(0.9, { flagged: true, subcategoryFlags, subcategoryScores: {} });
    const hostile = judgeBy(() => flagged);
    const table = 'id;text\r\n1;"a ""b"""\r\n2;c';
    const utf16 = Buffer.from(`\ufeff${table}`, 'utf16le');
    const { bytes } = await annotated(cwd, 'a.csv', utf16, ['--annotate-key', 'guard'], hostile);
    const text = bytes!.toString();
    expect(text).toMatch(
      /^\ufeffid;text;guard_decision;guard_score;guard_categories;guard_decided_by;guard_error\r\n1;"a ""b""";block;0\.9;/,
    );
    const rows: Row[] = parse(text, { delimiter: ';', bom: true, columns: true });
    expect(rows).toHaveLength(2);
    expect(rows[1]).toMatchObject({ id: '2', text: 'c', guard_decision: 'block', guard_error: '' });
    expect(rows[1]!['guard_categories']).toMatch(/^'=cmd/);
    expect(rows[1]!['guard_categories']).not.toMatch(/[\r\n\u00e4]/);
  });

  it('are refused where the key is taken, and nothing is written', async () => {
    const cwd = await temporaryFolder();
    const lines = '{"text":"a"}\n{"text":"b","moderation":1}\n';
    const taken = await annotated(cwd, 'a.jsonl', lines);
    expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('--annotate-key')]);
    const table = await annotated(cwd, 'a.csv', 'text,Moderation_Score\na,1\n');
    expect([table.status, table.stderr]).toEqual([2, expect.stringContaining('--annotate-key')]);
    await expect(readFile(join(cwd, 'out-a.jsonl'))).rejects.toThrow('ENOENT');
    const other = await annotated(cwd, 'b.jsonl', lines, ['--annotate-key', 'guard']);
    expect(other.status).toBe(0);
  });

  it('hold the same values as before, and what the run found, for any record', async () => {
    const cwd = await temporaryFolder();
    const records = fc.sample(
      fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
      { numRuns: rounds(100), seed: 42 },
    );
    const lines = records.map((record) => ({ ...record, text: 'x' }));
    const { text } = await annotated(cwd, 'a.jsonl', jsonl(...lines));
    const found = text.trimEnd().split('\n');
    expect(found).toHaveLength(lines.length);
    found.forEach((line, index) => {
      const { moderation, ...rest } = JSON.parse(line) as Row;
      expect(rest).toEqual(JSON.parse(JSON.stringify(lines[index])));
      expect(moderation).toHaveProperty('decision');
    });
  });
});
