import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ShardResult } from '../../src/domain/shard.ts';
import { decodePlanLine, encodePlanLine, type PlanFileLine } from '../../src/ingest/plan/plan-line.ts';
import { finishRun } from '../../src/sink/final-files/finish.ts';
import type { Manifest } from '../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { reseal } from './reseal.ts';
import { claim, finishedRun, newRun, planLine, openPlan, resultOf, shardOf, signal } from './run-fixture.ts';

const SOURCES = ['a.csv', 'empty.csv', 'b.csv'];
const ANOTHER_SOURCE =
  'plan.jsonl does not fit the log: item 2 names another source than the one it was planned in';

/** Two shards, of the first and the last source; the item in the middle may name another one. */
function results(path = 'a.csv'): ShardResult[] {
  const first = shardOf(0, [0, 1, 2], { path: 'a.csv' });
  const items = [...first.items.slice(0, 2), ...shardOf(0, [2], { path }).items];
  return [resultOf({ ...first, items }), resultOf(shardOf(1, [3, 4], { path: 'b.csv' }))];
}

describe('the accounts of the sources', () => {
  it('are kept for each of several sources, empty ones included', async () => {
    const { dir } = await finishedRun(results(), { sources: SOURCES });
    const manifest = JSON.parse(await readFile(join(dir, 'manifest.json'), 'utf8')) as Manifest;
    expect(manifest.counts.corpora).toEqual([
      { corpus: 0, items: 3, verdicts: 3, errors: 0 },
      { corpus: 1, items: 0, verdicts: 0, errors: 0 },
      { corpus: 2, items: 2, verdicts: 2, errors: 0 },
    ]);
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  it.each(['b.csv', 'empty.csv', 'none.csv'])('do not verify with an item that names %s', async (path) => {
    const run = await newRun({ sources: SOURCES });
    const log = await claim(run);
    const plan = await openPlan(run.dir, log);
    const shards = results(path);
    await plan.append(shards.map(({ shard }) => planLine(shard)));
    await plan.append([{ closed: true, pass: 1, shards: 2, items: 5, items_by_source: [3, 0, 2] }]);
    await plan.close();
    for (const result of shards) await log.commit(result);
    await finishRun(log, signal);
    await log.close();
    expect(await verifyRun(run.dir)).toEqual({ ok: false, problem: ANOTHER_SOURCE });
  });

  it('do not verify with an item under another source, though all else holds', async () => {
    const { dir } = await finishedRun(results(), { sources: SOURCES });
    // As somebody could do who makes a whole record anew but leaves the list of sources and the plan.
    const path = join(dir, 'plan.jsonl');
    const text = await readFile(path, 'utf8');
    const changed = text
      .trimEnd()
      .split('\n')
      .map((line) => decodePlanLine(Buffer.from(line)) as PlanFileLine)
      .map((line) => encodePlanLine('closed' in line ? { ...line, items_by_source: [2, 0, 3] } : line))
      .map((line) => `${line}\n`)
      .join('');
    expect(changed).not.toBe(text);
    await writeFile(path, changed);
    await reseal(dir);
    expect(await verifyRun(dir)).toEqual({ ok: false, problem: ANOTHER_SOURCE });
  });

  it('refuse a plan that counts other sources than there are', async () => {
    const run = await newRun({ sources: SOURCES });
    const log = await claim(run);
    const plan = await openPlan(run.dir, log);
    const [first] = results();
    await plan.append([
      planLine(first!.shard),
      { closed: true, pass: 1, shards: 1, items: 3, items_by_source: [3, 0] },
    ]);
    await plan.close();
    await log.commit(first!);
    await expect(finishRun(log, signal)).rejects.toMatchObject({
      kind: 'internal',
      message: 'plan.jsonl counts the items of 2 sources, but sources.jsonl has 3',
    });
    await log.close();
  });
});
