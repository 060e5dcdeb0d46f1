import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { CATEGORY_KEYS } from '../../src/domain/taxonomy.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { duckdb } from '../helpers/duckdb.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import { createdRun, go, judge } from './small-run.ts';

const moderation = (id: string, input: unknown): object => ({
  ...{ custom_id: id, method: 'POST', url: '/v1/moderations' },
  body: { model: 'omni-moderation-latest', input },
});

const REQUESTS = [
  moderation('one', 'a single text'),
  moderation('several#3', ['first text', 'second text']),
  moderation('parts', [
    { type: 'text', text: 'words' },
    { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
  ]),
  moderation('empty', []),
  {
    ...{ custom_id: 'chat', method: 'POST', url: '/v1/chat/completions' },
    body: { model: 'm', messages: [{ role: 'user', content: 'a question' }] },
  },
  { text: 'no request at all' },
];

it('answers the requests of an OpenAI Batch file in its form, one line per request', async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, 'uploads'));
  const text = REQUESTS.map((request) => `${JSON.stringify(request)}\n`).join('');
  await writeFile(join(folder, 'uploads', 'batch.jsonl'), text);
  const run = await createdRun(folder);
  await go(run, judge());

  const answered = await jsonLines<{ custom_id: string; response: { body: { results: object[] } } }>(
    join(run.dir, 'batch_output.jsonl'),
  );
  expect(answered.map((line) => [line.custom_id, line.response.body.results.length])).toEqual([
    ['one', 1],
    ['several#3', 2],
    ['chat', 1],
  ]);
  expect(answered[0]).toMatchObject({
    response: { status_code: 200, body: { results: [{ flagged: false, decision: 'allow', score: 0.1 }] } },
    error: null,
  });
  expect(Object.keys((answered[0]!.response.body.results[0] as { categories: object }).categories)).toEqual(
    CATEGORY_KEYS,
  );
  expect(await jsonLines(join(run.dir, 'batch_errors.jsonl'))).toMatchObject([
    { custom_id: 'parts', response: null, error: { code: 'UNSUPPORTED_TYPE' } },
    { custom_id: 'empty', response: null, error: { code: 'MISSING_PAYLOAD' } },
  ]);
  expect((await outcomes(run.dir)).map(({ part }) => part)).toEqual([
    ...['body.input', 'body.input[1]', 'body.input[2]', 'body.input', 'body.input.image', 'body.input'],
    ...['body.messages', null],
  ]);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});

it('judges the rows of Parquet files like JSON records, and accounts for damaged files', async () => {
  const folder = await temporaryFolder();
  const uploads = join(folder, 'uploads');
  await mkdir(uploads);
  await duckdb(
    `copy (select 'c' || i as id, [{'role': 'user', 'content': 'question ' || i}] as messages from range(25) r(i))
     to '${join(uploads, 'a.parquet')}' (format parquet)`,
  );
  await duckdb(
    `copy (select 'p' || i as id, 'how? ' || i as prompt, 'good ' || i as chosen, 'bad ' || i as rejected
     from range(3) r(i)) to '${join(uploads, 'b.bin')}' (format parquet)`,
  );
  await duckdb(
    `copy (select i as id, {'bytes': from_base64('${PNG}'), 'path': 'x.png'} as image from range(2) r(i))
     to '${join(uploads, 'c.parquet')}' (format parquet)`,
  );
  await writeFile(join(uploads, 'd.parquet'), Buffer.from('PAR1\0\0\0\0broken'));
  const run = await createdRun(folder);
  await go(run, judge());
  const lines = await outcomes(run.dir);
  expect(
    lines.slice(0, 25).map(({ id, request_type: type, source }) => [id, type, source.row, source.line]),
  ).toEqual(Array.from({ length: 25 }, (_, index) => [`c${index}`, 'multiturn', index + 1, null]));
  expect(lines.slice(25, 31).map(({ id, part }) => [id, part])).toEqual(
    [0, 1, 2].flatMap((row) => ['chosen', 'rejected'].map((part) => [`p${row}#${part}`, part])),
  );
  expect(lines.slice(31, 33).map(({ id, modality }) => [id, modality])).toEqual([
    ['0', 'image'],
    ['1', 'image'],
  ]);
  expect(lines[33]).toMatchObject({ error: { code: 'UNREADABLE_SOURCE' } });
  expect(lines).toHaveLength(34);
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});

/** One transparent pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==';
