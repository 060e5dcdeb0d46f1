import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import type { Cli } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { metricValues } from '../helpers/metrics.ts';
import { until } from '../helpers/run-directory.ts';

async function metricsOf(process: Cli): Promise<Map<string, number>> {
  const url = await until(async () => /metrics at (\S+)/.exec(process.stderr)?.[1], 'the address');
  return metricValues(await (await fetch(url)).text());
}

const ITEMS = 1000;
const SHARDS = Math.ceil(ITEMS / DEFAULT_LIMITS.shardItems);

it('worker and sink count what they do', async () => {
  // Shards of a worker that is late are judged again, and counted again.
  const { fleet, path } = await fleetWithComments(ITEMS, { guards: ['embedded:'], lock: '60s' });
  const worker = fleet.worker({ args: ['--metrics-port', '0'] });
  const sink = fleet.sink(['--metrics-port', '0']);
  expectStatus(await fleet.enqueue(path, ['--no-report']).finished(), 0);
  const judged = await metricsOf(worker);
  expect(judged.get('guardsweep_items_total{lane="text",outcome="ok"}')).toBe(ITEMS);
  expect(judged.get('guardsweep_shard_items_count{lane="text"}')).toBe(SHARDS);
  expect(judged.get('guardsweep_guard_ready{guard="embedded:"}')).toBe(1);
  expect(judged.get('guardsweep_guard_requests_total{guard="embedded:"}')).toBeGreaterThan(0);
  expect(judged.get('guardsweep_guard_rows_sent_total{guard="embedded:"}')).toBe(ITEMS);
  expect(judged.get('guardsweep_redis_up')).toBe(1);
  // The run's end is reported before it is counted.
  const isCounted = async () => (await metricsOf(sink)).get('guardsweep_runs_finished_total') === 1;
  await until(isCounted, 'the finished run');
  const committed = await metricsOf(sink);
  const [allowed, blocked] = ['allow', 'block'].map(
    (decision) => committed.get(`guardsweep_items_committed_total{lane="text",decision="${decision}"}`) ?? 0,
  );
  expect(allowed! + blocked!).toBe(ITEMS);
  expect(committed.get('guardsweep_queue_jobs{queue="text",state="waiting"}')).toBe(0);
  expect(committed.get('guardsweep_shards_committed_total')).toBe(SHARDS);
});
