import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { Item } from '../../src/domain/item.ts';
import type { Outcome } from '../../src/domain/outcome.ts';
import { type CategoryKey, CATEGORY_KEYS } from '../../src/domain/taxonomy.ts';
import { summaryLines } from '../../src/record/summary/summary-text.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { jsonl } from '../helpers/documents.ts';
import { duckdb } from '../helpers/duckdb.ts';
import { finishedRun, WITH_TABLES } from '../record/run-fixture.ts';
import { FINGERPRINT, failed, resultOf, shardOf, verdict } from '../record/shards.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import { runOver, go, judge } from '../runs/small-run.ts';

it('writes verdicts.parquet with the same types whatever it holds, and verify renders it again', async () => {
  const shard = shardOf(0, [0, 1, 2]);
  const judged = resultOf(shard, (item) => (item.seq === 2 ? failed('TIMEOUT') : verdict(item)));
  const { dir, summary } = await finishedRun([judged], { output: { formats: ['jsonl', 'parquet'] } });
  const path = join(dir, 'verdicts.parquet');
  expect(summary.files).toContain('verdicts.parquet');
  expect(existsSync(join(dir, 'verdicts.csv'))).toBe(false);
  const rows = await duckdb(
    `select seq::int as seq, decision, score, hate, privacy, violent_crimes, category_flags, fingerprint,
     epoch_ms(moderated_at)::varchar as at, error_code, error_retryable from '${path}'`,
  );
  const scores = { score: 0.93, hate: 0.91, privacy: 0.02, violent_crimes: null };
  expect(rows[0]).toEqual({
    seq: 0,
    decision: 'block',
    ...scores,
    category_flags: 'hate',
    fingerprint: FINGERPRINT.id,
    at: String(Date.parse('2026-01-01T00:00:00.000Z')),
    error_code: null,
    error_retryable: null,
  });
  const error = { error_code: 'TIMEOUT', error_retryable: true };
  expect(rows.slice(1)).toMatchObject([
    { seq: 1, decision: 'allow', hate: null, category_flags: null },
    { seq: 2, decision: null, score: null, ...error },
  ]);
  const types = await duckdb(`select column_name, column_type from (describe from '${path}')`);
  expect(types).toContainEqual({ column_name: 'moderated_at', column_type: 'TIMESTAMP WITH TIME ZONE' });
  expect(types).toContainEqual({ column_name: 'suicide_self_harm', column_type: 'DOUBLE' });
  expect(await verifyRun(dir)).toMatchObject({ ok: true });

  const empty = await finishedRun([], { output: { formats: ['jsonl', 'parquet'] } });
  const none = join(empty.dir, 'verdicts.parquet');
  expect(await duckdb(`select column_name, column_type from (describe from '${none}')`)).toEqual(types);
  expect(await duckdb(`select count(*)::int as n from '${none}'`)).toEqual([{ n: 0 }]);
  expect(await verifyRun(empty.dir)).toMatchObject({ ok: true });
});

it('lists what may show children in sexual contexts apart, and not among the flagged items', async () => {
  const flaggedFor = (category: CategoryKey, more: Partial<Record<CategoryKey, number>> = {}) => {
    const subcategoryScores = { [category]: 0.9, ...more };
    return (item: Item) => verdict(item, { flagged: true, subcategoryFlags: [category], subcategoryScores });
  };
  const kinds: readonly ((item: Item) => Outcome)[] = [
    flaggedFor('child_sexual_exploitation'),
    flaggedFor('sexual_content'),
    flaggedFor('sexual_content', { child_sexual_exploitation: 0.01 }),
    flaggedFor('hate'),
    (item) => verdict(item, { flagged: false }),
  ];
  const shard = shardOf(0, [0, 1, 2, 3, 4]);
  const { dir, summary } = await finishedRun(
    [resultOf(shard, (item) => kinds[item.seq]!(item))],
    WITH_TABLES,
  );
  expect(await readFile(join(dir, 'restricted.csv'), 'utf8')).toBe(
    '\ufeffseq,path,row,line,id,part,turn,decision,category,file_sha256\r\n' +
      '0,corpus.csv,1,1,corpus.csv#1,,,block,child_sexual_exploitation,\r\n' +
      '1,corpus.csv,2,2,corpus.csv#2,,,block,sexual_content,\r\n',
  );
  const table = await readFile(join(dir, 'flagged.csv'));
  const flagged = parse<Record<string, string>>(table, { bom: true, columns: true });
  expect(flagged.map(({ seq }) => seq)).toEqual(['2', '3']);
  expect(summary).toMatchObject({ restricted: 2, flagged: 4 });
  expect(summaryLines(summary).join('\n')).toContain('in sexual contexts: restricted.csv');
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
});

const request = (custom_id: string, url: string, body: object): object => {
  return { custom_id, method: 'POST', url: `/v1/${url}`, body: { model: 'a-model', ...body } };
};
const moderation = (id: string, input: unknown) => request(id, 'moderations', { input });
const IMAGE = { type: 'image_url', image_url: { url: 'https://x.test/a.png' } };

const REQUESTS = [
  moderation('one', 'a single text'),
  moderation('several#3', ['first text', 'second text']),
  moderation('parts', [{ type: 'text', text: 'words' }, IMAGE]),
  moderation('empty', []),
  request('chat', 'chat/completions', { messages: [{ role: 'user', content: 'a question' }] }),
  { text: 'no request at all' },
];

it('answers the requests of an OpenAI Batch file in its form, one line per request', async () => {
  const { run } = await runOver({ 'batch.jsonl': jsonl(...REQUESTS) });
  await go(run, judge());

  const answered = await jsonLines<{ custom_id: string; response: { body: { results: object[] } } }>(
    join(run.dir, 'batch_output.jsonl'),
  );
  const results = answered.map((line) => `${line.custom_id}: ${line.response.body.results.length}`);
  expect(results).toEqual(['one: 1', 'several#3: 2', 'chat: 1']);
  expect(answered[0]).toMatchObject({
    response: { status_code: 200, body: { results: [{ flagged: false, decision: 'allow', score: 0.1 }] } },
    error: null,
  });
  const [result] = answered[0]!.response.body.results as { categories: object }[];
  expect(Object.keys(result!.categories)).toEqual(CATEGORY_KEYS);
  expect(await jsonLines(join(run.dir, 'batch_errors.jsonl'))).toMatchObject([
    { custom_id: 'parts', response: null, error: { code: 'UNSUPPORTED_TYPE' } },
    { custom_id: 'empty', response: null, error: { code: 'MISSING_PAYLOAD' } },
  ]);
  const parts = ['', '[1]', '[2]', '', '.image', ''].map((part) => `body.input${part}`);
  expect((await outcomes(run.dir)).map(({ part }) => part)).toEqual([...parts, 'body.messages', null]);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});
