import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunBacklog } from '../../../src/fleet/sink/run-backlog.ts';
import { PlanTail } from '../../../src/ingest/plan/plan-tail.ts';
import { claim, newRun, openPlan, planLine, resultOf, shardOf, signal } from '../../record/run-fixture.ts';

it('the age of a backlog is that of its oldest shard, and a commit is as old as the clock says', async () => {
  const run = await newRun();
  const log = await claim(run);
  const plan = await openPlan(run.dir, log);
  let seconds = 0;
  const backlog = new RunBacklog(new PlanTail(join(run.dir, 'plan.jsonl')), () => seconds * 1000);
  const measured = () => backlog.measure(log, signal);
  const commit = async (shard: number): Promise<void> => {
    await log.commit(resultOf(shardOf(shard, [shard])));
    backlog.committed();
  };
  expect(await measured()).toEqual({ items: 0, oldestSeconds: 0, commitSeconds: 0 });

  seconds = 10;
  await plan.append([planLine(shardOf(0, [0])), planLine(shardOf(1, [1]))]);
  expect(await measured()).toEqual({ items: 2, oldestSeconds: 0, commitSeconds: 10 });
  seconds = 30;
  await plan.append([planLine(shardOf(2, [2]))]);
  expect(await measured()).toEqual({ items: 3, oldestSeconds: 20, commitSeconds: 30 });
  await commit(1);
  expect(await measured()).toEqual({ items: 2, oldestSeconds: 20, commitSeconds: 0 });
  seconds = 35;
  await commit(0);
  expect(await measured()).toEqual({ items: 1, oldestSeconds: 5, commitSeconds: 0 });
  await commit(2);
  seconds = 40;
  expect(await measured()).toEqual({ items: 0, oldestSeconds: 0, commitSeconds: 5 });
  await plan.close();
  await log.close();
});
