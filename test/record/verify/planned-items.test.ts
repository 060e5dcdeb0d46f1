import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withCheck, withoutCheck } from '../../../src/files/checked-line.ts';
import { finishRun } from '../../../src/sink/final-files/finish.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { reseal } from '../reseal.ts';
import {
  claim,
  closingOf,
  finishedRun,
  newRun,
  openPlan,
  planLine,
  resultOf,
  shardOf,
  signal,
} from '../run-fixture.ts';

it('outcomes of other items than the plan names do not hold', async () => {
  const { dir } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
  const path = join(dir, 'plan.jsonl');
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
  const changed = lines.map((line) =>
    withCheck(withoutCheck(line)!.replace(/("items_sha256":")[0-9a-f]{64}/, `$1${'0'.repeat(64)}`)),
  );
  await writeFile(path, `${changed.join('\n')}\n`);
  await reseal(dir);
  expect(await verifyRun(dir)).toEqual({
    ok: false,
    problem: 'log/0001-000001.jsonl: the outcomes of shard 0 are of other items than were planned',
  });
});

it('outcomes of the items that were fed in their stead hold', async () => {
  const run = await newRun();
  const [planned, fed] = [shardOf(0, [0]), shardOf(0, [0])];
  const instead = { ...fed, items: fed.items.map((item) => ({ ...item, id: 'as it is read now' })) };
  const { items_sha256: items } = planLine(instead);
  const log = await claim(run);
  const plan = await openPlan(run.dir, log);
  await plan.append([planLine(planned)]);
  await plan.change({ changed: 0, items_sha256: items });
  await plan.append([closingOf(run.record, 1, [resultOf(planned)])]);
  await plan.close();
  await log.commit(resultOf(instead));
  expect((await finishRun(log, signal)).status).toBe('finished');
  await log.close();
  expect(await verifyRun(run.dir)).toMatchObject({ ok: true });
});
