import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { CATEGORY_KEYS } from '../../src/domain/taxonomy.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import { runOver, go, judge } from './small-run.ts';

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
  const text = REQUESTS.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { run } = await runOver({ 'batch.jsonl': text });
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
