import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { guardMetrics } from '../../../src/guard-server/service/guard-metrics.ts';
import type { StatisticsEntry } from '../../../src/guard-server/service/statistics-entry.ts';
import type { GuardServer } from '../../../src/guard-server/server.ts';
import { promptInputs, type TestClient } from '../../helpers/guards/guard-client.ts';
import { guardForTest } from '../../helpers/guards/shared-guard.ts';
import { metricValues } from '../../helpers/metrics.ts';
import { settled } from '../../helpers/settled.ts';
import { StreamConnection } from '../../helpers/guards/stream-client.ts';

let server: GuardServer;
let client: TestClient;

beforeEach(async () => {
  const loaded = { modelControl: 'explicit', loadModel: 'guard' } as const;
  ({ server, client } = await guardForTest({ synthetic: { maxQueueSize: 1 }, ...loaded }));
});

/** Values by name and labels. */
async function metrics(): Promise<Record<string, number>> {
  return Object.fromEntries(metricValues(await guardMetrics(server.observed).metrics()));
}

const judge = (...texts: string[]) => client.infer({ tensors: promptInputs(texts) });
const LABELS = 'model="guard",version="1"';

it('has the names and labels of Triton, and the numbers of its statistics', async () => {
  const control = server.synthetic!;
  control.pause();
  const running = judge('a', 'b');
  await settled(() => control.counts.executions === 1);
  const queued = judge(' ').catch(() => {});
  await settled(() => control.waiting === 1);
  await expect(judge('refused')).rejects.toThrow('exceeds maximum queue size');
  expect(await metrics()).toMatchObject({ [`nv_inference_pending_request_count{${LABELS}}`]: 1 });
  control.resume();
  await Promise.all([running, queued]);

  const values = await metrics();
  expect(values).toMatchObject({
    [`nv_inference_request_success{${LABELS}}`]: 1,
    [`nv_inference_request_failure{${LABELS},reason="REJECTED"}`]: 1,
    [`nv_inference_request_failure{${LABELS},reason="CANCELED"}`]: 0,
    [`nv_inference_request_failure{${LABELS},reason="BACKEND"}`]: 1,
    [`nv_inference_count{${LABELS}}`]: 2,
    [`nv_inference_exec_count{${LABELS}}`]: 1,
    [`nv_inference_pending_request_count{${LABELS}}`]: 0,
  });
  const durations = ['request', 'queue', 'compute_input', 'compute_infer', 'compute_output'].map(
    (step) => values[`nv_inference_${step}_duration_us{${LABELS}}`]!,
  );
  const [whole, ...steps] = durations as [number, ...number[]];
  // Each is rounded to a microsecond.
  expect(Math.abs(whole - steps.reduce((sum, step) => sum + step))).toBeLessThan(5);

  const statistics = client.call<{ model_stats: StatisticsEntry[] }>('ModelStatistics', { name: 'guard' });
  const [entry] = (await statistics).model_stats;
  expect(entry).toMatchObject({ name: 'guard', version: '1', inference_count: 2, execution_count: 1 });
  expect(entry!.inference_stats).toMatchObject({ success: { count: 1 }, fail: { count: 2 } });
  expect(entry!.batch_stats).toMatchObject([{ batch_size: 2, compute_infer: { count: 1 } }]);
});

it('counts moderation streams, which end when the model is unloaded', async () => {
  const connection = new StreamConnection(server.address);
  onTestFinished(() => connection.close());
  const stream = connection.open();
  stream.send({ prompt: 'a prompt', chunk: 'one ', cadence: { unit: 'chunks', every: 1 } });
  await stream.judged(0);
  expect(await metrics()).toMatchObject({
    guardsweep_moderation_streams_open: 1,
    guardsweep_moderation_stream_verdicts_total: 1,
    guardsweep_moderation_streams_unjudged_code_units: 0,
  });
  await client.call('RepositoryModelUnload', { model_name: 'guard' });
  stream.send({ seq: 1, chunk: 'two ' });
  expect(await stream.ended).toBe('UNAVAILABLE');
  expect(await metrics()).toMatchObject({ guardsweep_moderation_streams_open: 0 });
});
