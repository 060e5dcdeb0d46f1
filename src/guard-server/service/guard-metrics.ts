import { Counter, Gauge, Registry } from 'prom-client';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type { ModelStatistics, StatisticDuration } from '../batching/model-statistics.ts';
import type { ModelLifecycle } from './model-lifecycle.ts';

/** What the metrics of a guard are read from. */
export interface Observed {
  readonly lifecycle: ModelLifecycle;
  readonly statistics: ModelStatistics;
}

const NS_PER_US = 1000;
const MODEL_LABELS = ['model', 'version'];

/** Reads a counter from the statistics. */
type Reading = (statistics: ModelStatistics) => number;

const microseconds =
  (duration: (statistics: ModelStatistics) => StatisticDuration): Reading =>
  (statistics) =>
    Math.round(duration(statistics).ns / NS_PER_US);

const COUNTERS: readonly (readonly [name: string, help: string, read: Reading])[] = [
  [
    'nv_inference_request_success',
    'Number of successful inference requests',
    ({ inferStats }) => inferStats.success.count,
  ],
  [
    'nv_inference_count',
    'Number of rows judged by successful inference requests',
    ({ inferenceCount }) => inferenceCount,
  ],
  ['nv_inference_exec_count', 'Number of executions of the model', ({ executionCount }) => executionCount],
  [
    'nv_inference_request_duration_us',
    'Time of successful requests from queueing to the reply, in microseconds',
    microseconds(({ inferStats }) => inferStats.success),
  ],
  [
    'nv_inference_queue_duration_us',
    'Time that successful requests were queued, in microseconds',
    microseconds(({ inferStats }) => inferStats.queue),
  ],
  [
    'nv_inference_compute_input_duration_us',
    'Time to prepare the inputs of successful requests, in microseconds',
    microseconds(({ inferStats }) => inferStats.compute_input),
  ],
  [
    'nv_inference_compute_infer_duration_us',
    'Time that the model took for successful requests, in microseconds',
    microseconds(({ inferStats }) => inferStats.compute_infer),
  ],
  [
    'nv_inference_compute_output_duration_us',
    'Time to hand over the outputs of successful requests, in microseconds',
    microseconds(({ inferStats }) => inferStats.compute_output),
  ],
];

/**
 * Prometheus metrics of the model, with Triton's names and labels. As in Triton, there are none while no model is loaded;
 * a model that is loaded again goes on counting.
 */
export function guardMetrics({ lifecycle, statistics }: Observed): Registry {
  const registry = new Registry();
  const registers = [registry];
  const labels = (): { model: string; version: string } => ({
    model: MODEL_NAME,
    version: lifecycle.version,
  });
  for (const [name, help, read] of COUNTERS) {
    new Counter({
      ...{ name, help, labelNames: MODEL_LABELS, registers },
      collect() {
        this.reset();
        if (lifecycle.state.name === 'READY') this.inc(labels(), read(statistics));
      },
    });
  }
  new Counter({
    name: 'nv_inference_request_failure',
    help: 'Number of failed inference requests: found the queue full, left it, failed in the model, or for other reasons',
    labelNames: [...MODEL_LABELS, 'reason'],
    registers,
    collect() {
      this.reset();
      if (lifecycle.state.name !== 'READY') return;
      for (const [reason, count] of Object.entries(statistics.failures)) {
        this.inc({ ...labels(), reason }, count);
      }
      this.inc({ ...labels(), reason: 'OTHER' }, 0);
    },
  });
  new Gauge({
    name: 'nv_inference_pending_request_count',
    help: 'Number of queued inference requests',
    labelNames: MODEL_LABELS,
    registers,
    collect() {
      this.reset();
      const { state } = lifecycle;
      if (state.name === 'READY') this.set(labels(), state.loaded.batcher.waiting);
    },
  });
  return registry;
}
