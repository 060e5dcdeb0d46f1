import { Counter, Gauge, Registry } from 'prom-client';
import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import { addStreamMetrics, type ObservedStreams } from '../../http/streams/stream-metrics.ts';
import type { ModelStatistics } from '../batching/model-statistics.ts';
import { GUARD_COUNTERS } from './guard-counters.ts';
import type { ModelLifecycle } from './model-lifecycle.ts';

/** Source of a guard's metrics. */
export interface Observed {
  readonly lifecycle: ModelLifecycle;
  readonly statistics: ModelStatistics;
  readonly streams: ObservedStreams;
}

const MODEL_LABELS = ['model', 'version'];

/**
 * Prometheus metrics of the model, its session cache and the moderation streams. As in Triton, a model that is not
 * loaded has none. A model that is reloaded continues its counts, with an empty cache.
 */
export function guardMetrics({ lifecycle, statistics, streams }: Observed): Registry {
  const registry = new Registry();
  const registers = [registry];
  for (const { name, help, label, read } of GUARD_COUNTERS) {
    new Counter({
      ...{ name, help, labelNames: label === null ? MODEL_LABELS : [...MODEL_LABELS, label], registers },
      collect() {
        this.reset();
        const { state } = lifecycle;
        if (state.name !== 'READY') return;
        const { model } = state.loaded;
        for (const [value, count] of read({ statistics, cache: model.cacheTotals })) {
          const labels = { model: MODEL_NAME, version: model.version };
          this.inc(label === null ? labels : { ...labels, [label]: value }, count);
        }
      },
    });
  }
  new Gauge({
    name: 'nv_inference_pending_request_count',
    help: 'Number of inference requests in the queue',
    labelNames: MODEL_LABELS,
    registers,
    collect() {
      this.reset();
      const { state } = lifecycle;
      if (state.name !== 'READY') return;
      const { model, batcher } = state.loaded;
      this.set({ model: MODEL_NAME, version: model.version }, batcher.waiting);
    },
  });
  addStreamMetrics(registry, streams);
  return registry;
}
