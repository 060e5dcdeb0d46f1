import { setMaxListeners } from 'node:events';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { recordSha256 } from '../../src/config/run-config.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { sinkQueue } from '../../src/fleet/redis/fleet-queues.ts';
import { FleetRuns } from '../../src/fleet/redis/fleet-runs.ts';
import { setMarker } from '../../src/runs/control/control-files.ts';
import { sinkMetrics } from '../../workers/sink-metrics.ts';
import { sinkAtWork } from '../fleet/sink-at-work.ts';
import { metricValues } from '../helpers/metrics.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { jsonLines, outcomes } from '../helpers/run-directory.ts';
import { settled } from '../helpers/settled.ts';
import { begunRun, closingOf, feeding, signal } from '../record/run-fixture.ts';
import { failed, planLine, resultOf, shardOf, verdict } from '../record/shards.ts';

setMaxListeners(0, signal);

const RESULTS = [
  resultOf(shardOf(0, [0, 1, 2, 3])),
  resultOf(shardOf(1, [4, 5, 6]), (item) => (item.seq === 5 ? failed('TIMEOUT') : verdict(item))),
  resultOf(shardOf(2, [7], { lane: 'image' }), () => failed('GUARD_REJECTED')),
];
const SUMS = {
  committed: 'guardsweep_items_committed_total',
  flags: 'guardsweep_flags_committed_total',
  errors: 'guardsweep_errors_committed_total',
};

/** A run that is planned to its end and fed, and a sink that is observed. */
async function observedRun() {
  const link = await linkForTest(await redisForTest());
  const { run, log, plan } = await begunRun();
  const name = run.record.run;
  await plan.append([...RESULTS.map(({ shard }) => planLine(shard)), closingOf(run.record, 1, RESULTS)]);
  await plan.close();
  await log.close();
  const { epoch } = await feeding(run.dir);
  await new FleetRuns(link).register({ run: name, dir: run.dir, epoch }, signal);
  const { metrics, observer } = sinkMetrics();
  const sink = sinkAtWork(link, dirname(run.dir), { observer });
  const queue = sinkQueue(link, name);
  onTestFinished(() => queue.close());
  const job = { run: name, record: recordSha256(run.record), epoch };
  return {
    run,
    scrape: async () => metricValues(await metrics.registry.metrics()),
    /** Delivers the result of a shard, and waits until the sink is done with it. */
    deliver: async (shard: number) => {
      await queue.put({ kind: 'result', ...job, settledMark: null, result: RESULTS[shard]! }, signal);
      await settled(async () => Object.values(await queue.depth(signal)).every((jobs) => jobs === 0));
    },
    finish: () => queue.put({ kind: 'finish', ...job, pass: 1 }, signal),
    sink,
  };
}

it('what a sink counts at commit is what the record holds, however often a result is delivered', async () => {
  const { run, scrape, deliver, finish } = await observedRun();
  for (const shard of [0, 1, 1, 0, 2, 1]) await deliver(shard);
  await finish();
  await settled(async () => (await scrape()).get('guardsweep_runs_finished_total') === 1);
  const counted = await scrape();

  const expected = new Map<string, number>();
  const count = (name: string): void => void expected.set(name, (expected.get(name) ?? 0) + 1);
  for (const { decision, subcategory_flags: flags } of await outcomes(run.dir)) {
    if (decision === null) continue;
    count(`${SUMS.committed}{lane="text",decision="${decision}"}`);
    for (const key of flags ?? [])
      count(`${SUMS.flags}{lane="text",decision="${decision}",category="${key}"}`);
  }
  for (const { seq, error } of await jsonLines<OutcomeLine>(join(run.dir, 'errors.jsonl'))) {
    const lane = seq === 7 ? 'image' : 'text';
    count(`${SUMS.committed}{lane="${lane}",decision="error"}`);
    count(`${SUMS.errors}{lane="${lane}",code="${error!.code}"}`);
  }
  const sums = [...counted].filter(([name]) => Object.values(SUMS).some((sum) => name.startsWith(sum)));
  expect(Object.fromEntries(sums)).toEqual(Object.fromEntries(expected));
  expect([...expected.values()].reduce((sum, value) => sum + value, 0)).toBeGreaterThan(8);
  expect(counted.get('guardsweep_shards_committed_total')).toBe(3);
});

it('a sink measures the backlog of each run from its plan and its record, also before the first result', async () => {
  const { run, scrape, deliver, sink } = await observedRun();
  const valueOf = async (name: string) => (await scrape()).get(`${name}{run="${run.record.run}"}`);
  await settled(async () => (await valueOf('guardsweep_backlog_items')) === 8);
  await deliver(0);
  expect(await valueOf('guardsweep_backlog_items')).toBe(4);
  const ages = ['guardsweep_oldest_shard_age_seconds', 'guardsweep_commit_age_seconds'];
  for (const age of ages) expect(await valueOf(age)).toBeGreaterThan(0);
  await deliver(2);
  await deliver(1);
  expect(await valueOf('guardsweep_backlog_items')).toBe(0);
  expect(await valueOf('guardsweep_oldest_shard_age_seconds')).toBe(0);

  // Nobody is to be woken for it, nor workers started.
  await setMarker(run.dir, 'paused');
  expect(await valueOf('guardsweep_backlog_items')).toBeUndefined();
  await sink.end();
  expect((await scrape()).get('guardsweep_runs_held')).toBe(0);
});
