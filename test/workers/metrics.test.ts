import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import type { Cli } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { startScriptedGuard } from '../helpers/guards/scripted-guard.ts';
import { metricValues } from '../helpers/metrics.ts';
import { until } from '../helpers/run-directory.ts';

async function metricsOf(process: Cli): Promise<Map<string, number>> {
  const url = await until(
    async () => /metrics at (\S+)/.exec(process.stderr)?.[1],
    'the address of the metrics',
  );
  const response = await fetch(url);
  expect(response.status).toBe(200);
  return metricValues(await response.text());
}

const ITEMS = 1000;
const SHARDS = Math.ceil(ITEMS / DEFAULT_LIMITS.shardItems);

it('worker and sink count what they do', async () => {
  const { fleet, path } = await fleetWithComments(ITEMS, { guards: ['embedded:'] });
  const worker = fleet.worker({ args: ['--metrics-port', '0'] });
  const sink = fleet.sink(['--metrics-port', '0']);
  expectStatus(await fleet.enqueue(path, ['--no-report']).finished(), 0);

  const judged = await metricsOf(worker);
  expect(judged.get('guardsweep_items_total{lane="text",outcome="ok"}')).toBe(ITEMS);
  expect(judged.get('guardsweep_shard_items_count{lane="text"}')).toBe(SHARDS);
  expect(judged.get('guardsweep_guard_ready{guard="embedded:"}')).toBe(1);
  expect(judged.get('guardsweep_guard_requests_total{guard="embedded:"}')).toBeGreaterThan(0);
  expect(judged.get('guardsweep_guard_rows_sent_total{guard="embedded:"}')).toBe(ITEMS);
  // 1000 items fill 15 batches of 64, and part of one more for each shard that came too late for the others.
  const room = judged.get('guardsweep_guard_room_sent_total{guard="embedded:"}')!;
  expect(room % 64).toBe(0);
  expect(room).toBeGreaterThanOrEqual(1024);
  expect(room).toBeLessThanOrEqual(1024 + (SHARDS - 1) * 64);
  expect(judged.get('guardsweep_guard_starved_seconds_total{guard="embedded:"}')).toBeGreaterThan(0);
  expect(judged.get('guardsweep_items_waiting')).toBe(0);
  expect(judged.get('guardsweep_guard_idle_seconds_total')).toBeGreaterThan(0);
  expect(judged.get('guardsweep_shards_in_flight{lane="text"}')).toBe(0);
  expect(judged.get('guardsweep_redis_up')).toBe(1);
  // Shards share batches: each shard counts the requests that its verdicts come from.
  const latencies = judged.get('guardsweep_guard_latency_seconds_count{guard="embedded:"}');
  expect(latencies).toBeGreaterThanOrEqual(judged.get('guardsweep_guard_requests_total{guard="embedded:"}')!);

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

it('an idle worker notices that its guard is gone, and that it is back, and says so once', async () => {
  const guard = await startScriptedGuard();
  onTestFinished(() => guard.kill());
  const { fleet } = await fleetWithComments(1, { guards: [guard.address] });
  const worker = fleet.worker({ args: ['--metrics-port', '0'] });
  const ready = async () => (await metricsOf(worker)).get(`guardsweep_guard_ready{guard="${guard.address}"}`);
  expect(await ready()).toBe(1);
  guard.kill();
  await until(async () => (await ready()) === 0, 'the outage');
  const back = await startScriptedGuard({ port: guard.port });
  onTestFinished(() => back.kill());
  await until(async () => (await ready()) === 1, 'the return');
  const said = worker.stderr.split('\n').filter((line) => line.includes(`guard ${guard.address} is`));
  expect(said).toEqual([
    expect.stringMatching(/ is out: (no connection|connection lost|not ready)$/),
    expect.stringMatching(/ is ready again$/),
  ]);
  const out = worker.log.split('\n').find((line) => line.includes('"guard_out"'))!;
  expect(JSON.parse(out)).toMatchObject({ level: 'warn', guard: guard.address });
});
