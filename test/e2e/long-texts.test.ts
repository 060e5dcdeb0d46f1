import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGuardServer } from '../../src/guard-server/server.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { random, sentence } from '../helpers/corpus.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

it('texts, responses and conversations beyond the context of the guard are judged in windows', async () => {
  const folder = await temporaryFolder();
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
  const path = join(folder, 'corpus');
  await mkdir(path);
  await writeFile(join(path, 'records.jsonl'), records.map((record) => JSON.stringify(record)).join('\n'));
  const guard = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    synthetic: { serviceTime: 'zero' },
  });
  onTestFinished(() => guard.close());

  const args = ['enqueue', path, '--guard', guard.address];
  const done = await guardsweep([...args, '--out', join(folder, 'windows')]);
  expect({ status: done.status, stderr: done.stderr.includes('Error') }).toEqual({
    status: 0,
    stderr: false,
  });
  const run = await onlyRun(join(folder, 'windows'));
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
