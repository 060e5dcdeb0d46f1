import { afterEach, beforeEach, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import type { StatisticsEntry } from '../../../src/guard-server/service/statistics-entry.ts';
import { startGuardServer, type GuardServer } from '../../../src/guard-server/server.ts';
import { promptInputs, TestClient } from '../../helpers/guards/guard-client.ts';
import { settled } from '../../helpers/settled.ts';

let server: GuardServer;
let client: TestClient;

beforeEach(async () => {
  server = await startGuardServer({
    model: 'synthetic',
    grpcPort: 0,
    maxBatchSize: 4,
    synthetic: { serviceTime: 'zero', maxQueueSize: 3 },
    modelControl: 'explicit',
    loadModel: 'guard',
  });
  client = new TestClient(server.address);
});

afterEach(async () => {
  client.close();
  await server.close();
});

async function statistics(request: object = { name: 'guard' }): Promise<readonly StatisticsEntry[]> {
  const reply = await client.call<{ model_stats: StatisticsEntry[] }>('ModelStatistics', request);
  return reply.model_stats;
}

const judge = (...texts: string[]) => client.infer({ tensors: promptInputs(texts) });

const counts = (durations: object): object =>
  Object.fromEntries(
    Object.entries(durations).map(([name, duration]) => [name, (duration as { count: number }).count]),
  );

it('counts rows, executions and requests, and adds up their times', async () => {
  const beforeMs = Date.now();
  const control = server.synthetic!;
  control.pause();
  const first = judge('a', 'b');
  await settled(() => control.counts.executions === 1);
  const rest = [judge('c'), judge('d'), judge(' ')];
  await settled(() => control.waiting === 3);
  control.resume();
  await Promise.allSettled([first, ...rest]);

  const [entry] = await statistics();
  expect(entry).toMatchObject({ name: 'guard', version: '1', inference_count: 4, execution_count: 2 });
  expect(entry!.last_inference).toBeGreaterThanOrEqual(beforeMs - 1);
  expect(entry!.last_inference).toBeLessThanOrEqual(Date.now() + 1);
  const { inference_stats: times, batch_stats: batches } = entry!;
  expect(counts(times)).toEqual({
    ...{ success: 3, fail: 1, queue: 3, compute_input: 3, compute_infer: 3, compute_output: 3 },
    ...{ cache_hit: 0, cache_miss: 0 },
  });
  const steps = [times.queue, times.compute_input, times.compute_infer, times.compute_output];
  const sum = steps.reduce((total, { ns }) => total + ns, 0);
  // Each step is rounded to a nanosecond.
  expect(Math.abs(times.success.ns - sum)).toBeLessThan(100);
  expect(times.queue.ns).toBeGreaterThan(0);
  expect(times.fail.ns).toBeGreaterThan(0);
  expect(batches.map(({ batch_size, compute_infer }) => [batch_size, compute_infer.count])).toEqual([
    [2, 1],
    [3, 1],
  ]);
});

it('counts requests that found the queue full, left it, or failed with the model', async () => {
  const control = server.synthetic!;
  control.pause();
  const running = judge('running');
  await settled(() => control.counts.executions === 1);
  const leaving = new AbortController();
  const queued = Promise.allSettled([
    client.infer({ tensors: promptInputs(['a']) }, { signal: leaving.signal }),
    judge('b'),
    judge('c'),
  ]);
  await settled(() => control.waiting === 3);
  await expect(judge('d')).rejects.toMatchObject({ code: status.UNAVAILABLE });
  leaving.abort();
  await settled(() => control.waiting === 2);
  control.setFaults([{ kind: 'crash' }]);
  control.resume();
  await running;
  await queued;

  const [entry] = await statistics();
  expect(counts(entry!.inference_stats)).toMatchObject({ success: 1, fail: 4 });
  expect(entry).toMatchObject({ inference_count: 1, execution_count: 1 });
});
