import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShardResult } from '../../src/domain/shard.ts';
import { finishRun } from '../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { withCheck, withoutCheck } from '../../src/files/checked-line.ts';
import { begunRun, closingOf, finishedRun, problemOf, signal } from './run-fixture.ts';
import { planLine, resultOf, shardOf } from './shards.ts';
import { change, readManifestJson, reseal } from './reseal.ts';

const SOURCES = ['a.csv', 'empty.csv', 'b.csv'];

/** Two shards, of the first and the last source; the item in the middle may name another one. */
function results(path = 'a.csv'): ShardResult[] {
  const first = shardOf(0, [0, 1, 2], { path: 'a.csv' });
  const items = [...first.items.slice(0, 2), ...shardOf(0, [2], { path }).items];
  return [resultOf({ ...first, items }), resultOf(shardOf(1, [3, 4], { path: 'b.csv' }))];
}

describe('the accounts of the sources', () => {
  it('are kept for each of several sources, empty ones included', async () => {
    const { dir } = await finishedRun(results(), { sources: SOURCES });
    expect((await readManifestJson(dir)).counts.corpora).toEqual([
      { corpus: 0, items: 3, verdicts: 3, errors: 0 },
      { corpus: 1, items: 0, verdicts: 0, errors: 0 },
      { corpus: 2, items: 2, verdicts: 2, errors: 0 },
    ]);
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  it.each(['b.csv', 'empty.csv', 'none.csv'])('do not verify with an item that names %s', async (path) => {
    const { run, log, plan } = await begunRun({ sources: SOURCES });
    const shards = results(path);
    await plan.append(shards.map(({ shard }) => planLine(shard)));
    await plan.append([{ closed: true, pass: 1, shards: 2, items: 5, items_by_source: [3, 0, 2] }]);
    await plan.close();
    for (const result of shards) await log.commit(result);
    await finishRun(log, signal);
    await log.close();
    expect(await problemOf(run.dir)).toBe(
      'plan.jsonl does not fit the log: item 2 names another source than the one it was planned in',
    );
  });
});

it('outcomes of other items than the plan names do not hold', async () => {
  const { dir } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
  const ofOthers = (line: string): string =>
    withCheck(withoutCheck(line)!.replace(/("items_sha256":")[0-9a-f]{64}/, `$1${'0'.repeat(64)}`));
  await change(join(dir, 'plan.jsonl'), (text) => text.replaceAll(/.+/g, ofOthers));
  await reseal(dir);
  expect(await problemOf(dir)).toBe(
    'log/0001-000001.jsonl: the outcomes of shard 0 are of other items than were planned',
  );
});

it('outcomes of the items that were fed in their stead hold', async () => {
  const { run, log, plan } = await begunRun();
  const [planned, fed] = [shardOf(0, [0]), shardOf(0, [0])];
  const instead = { ...fed, items: fed.items.map((item) => ({ ...item, id: 'as it is read now' })) };
  const { items_sha256: items } = planLine(instead);
  await plan.append([planLine(planned)]);
  await plan.change({ changed: 0, items_sha256: items });
  await plan.append([closingOf(run.record, 1, [resultOf(planned)])]);
  await plan.close();
  await log.commit(resultOf(instead));
  expect((await finishRun(log, signal)).status).toBe('finished');
  await log.close();
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});
