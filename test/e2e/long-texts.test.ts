import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { random, sentence } from '../helpers/corpus.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/synthetic-guard.ts';

it('texts, responses and conversations beyond the context of the guard are judged in windows', async () => {
  const next = random(1);
  const prose = (bytes: number): string => {
    let text = '';
    while (text.length < bytes) text += `${sentence(next)}. `;
    return text;
  };
  const turns = Array.from({ length: 41 }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: prose(2000),
  }));
  const long = prose(150_000);
  const answer = prose(70_000);
  const records = [
    { text: long },
    { prompt: 'Tell me a story.', response: answer },
    { messages: [{ role: 'system', content: 'You tell stories.' }, ...turns] },
    { text: 'A short one.' },
  ];
  const cwd = await folderWith({
    'records.jsonl': records.map((record) => JSON.stringify(record)).join('\n'),
  });
  const { address } = await syntheticGuard();
  const done = await guardsweep(['enqueue', 'records.jsonl', '--guard', address, '--no-report'], { cwd });
  expect([done.status, done.stderr]).toEqual([0, expect.not.stringContaining('Error')]);
  const run = printedRun(done);
  const lines = await outcomes(run);
  expect(lines.map(({ coverage }) => ({ ...coverage, worst_at: null }))).toEqual([
    { unit: 'chars', judged: long.length, total: long.length, worst_at: null },
    { unit: 'chars', judged: answer.length, total: answer.length, worst_at: null },
    { unit: 'turns', judged: 42, total: 42, worst_at: null },
    { unit: 'chars', judged: 12, total: 12, worst_at: null },
  ]);
  expect(lines.map(({ coverage }) => coverage!.worst_at === null)).toEqual([false, false, false, true]);
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
});
