import type { ModelStatistics, StatisticDuration } from '../batching/model-statistics.ts';
import type { CacheCounts } from '../contract/session-cache.ts';

/** Source of the counters of a loaded model. */
export interface Counted {
  readonly statistics: ModelStatistics;
  readonly cache: CacheCounts;
}

/** A Prometheus counter of the loaded model. */
export interface GuardCounter {
  readonly name: string;
  readonly help: string;
  /** Name of an additional label besides those of the model, or null. */
  readonly label: string | null;
  /** Its values by that label; a single value if there is none. */
  readonly read: (counted: Counted) => readonly (readonly [label: string, value: number])[];
}

const NS_PER_US = 1000;

function count(name: string, help: string, value: (statistics: ModelStatistics) => number): GuardCounter {
  return { name, help, label: null, read: ({ statistics }) => [['', value(statistics)]] };
}

function microseconds(
  step: string,
  help: string,
  duration: (statistics: ModelStatistics) => StatisticDuration,
): GuardCounter {
  return count(
    `nv_inference_${step}_duration_us`,
    `${help}, over successful inference requests, in microseconds`,
    (statistics) => Math.round(duration(statistics).ns / NS_PER_US),
  );
}

function cacheLookups(
  what: string,
  hits: (cache: CacheCounts) => number,
  misses: (cache: CacheCounts) => number,
): GuardCounter {
  return {
    name: `guardsweep_session_cache_${what}_total`,
    help: `Number of ${what} looked up in the session cache`,
    label: 'result',
    read: ({ cache }) => [
      ['hit', hits(cache)],
      ['miss', misses(cache)],
    ],
  };
}

/** Counters of a guard. Metrics that begin with `nv_` have the names and meanings of Triton's. */
export const GUARD_COUNTERS: readonly GuardCounter[] = [
  count(
    'nv_inference_request_success',
    'Number of successful inference requests',
    ({ inferStats }) => inferStats.success.count,
  ),
  {
    name: 'nv_inference_request_failure',
    help: 'Number of failed inference requests, by reason: full queue, canceled in the queue, error of the model',
    label: 'reason',
    // Triton has a fourth reason, which cannot occur here.
    read: ({ statistics }) => [...Object.entries(statistics.failures), ['OTHER', 0]],
  },
  count(
    'nv_inference_count',
    'Number of rows judged by successful inference requests',
    ({ inferenceCount }) => inferenceCount,
  ),
  count(
    'nv_inference_exec_count',
    'Number of executions of the model',
    ({ executionCount }) => executionCount,
  ),
  microseconds('request', 'Time from queueing to the reply', ({ inferStats }) => inferStats.success),
  microseconds('queue', 'Time in the queue', ({ inferStats }) => inferStats.queue),
  microseconds('compute_input', 'Time to prepare inputs', ({ inferStats }) => inferStats.compute_input),
  microseconds('compute_infer', 'Time in the model', ({ inferStats }) => inferStats.compute_infer),
  microseconds('compute_output', 'Time to hand over outputs', ({ inferStats }) => inferStats.compute_output),
  cacheLookups(
    'messages',
    ({ messageHits }) => messageHits,
    ({ messageMisses }) => messageMisses,
  ),
  cacheLookups(
    'tokens',
    ({ tokenHits }) => tokenHits,
    ({ tokenMisses }) => tokenMisses,
  ),
  {
    name: 'guardsweep_session_cache_evictions_total',
    help: 'Number of sessions evicted from the session cache',
    label: null,
    read: ({ cache }) => [['', cache.l1Evictions]],
  },
];
