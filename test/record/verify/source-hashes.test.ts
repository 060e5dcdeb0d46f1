import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { reseal } from '../reseal.ts';
import { finishedRun, resultOf, shardOf } from '../run-fixture.ts';

const NAME = 'source-hashes.jsonl';

async function finishedWith(sources: number) {
  const names = Array.from({ length: sources }, (_, index) =>
    index === 0 ? 'corpus.csv' : `folder/file-${index}.csv`,
  );
  return finishedRun([resultOf(shardOf(0, [0, 1]))], { sources: names });
}

it.each([
  ['changed', (text: string) => text.replace(/null/, `"${'f'.repeat(64)}"`), 'but had'],
  [
    'changed, and the manifest made anew',
    (text: string) => text.replace('"source":1', '"source":3'),
    'line 2',
  ],
  [
    'cut, and the manifest made anew',
    (text: string) => text.slice(0, text.indexOf('\n') + 1),
    'of 1 sources, not of 3',
  ],
  [
    'longer, and the manifest made anew',
    (text: string) => `${text}{"source":3,"sha256":null}\n`,
    'of 4 sources, not of 3',
  ],
])('the hashes of the sources that were %s do not verify', async (how, change, problem) => {
  const { dir } = await finishedWith(3);
  const path = join(dir, NAME);
  await writeFile(path, change(await readFile(path, 'utf8')));
  if (how.includes('anew')) await reseal(dir);
  expect(await verifyRun(dir)).toEqual({ ok: false, problem: expect.stringContaining(problem) as string });
  expect(await verifyRun(dir)).toEqual({ ok: false, problem: expect.stringContaining(NAME) as string });
});
