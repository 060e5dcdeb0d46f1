import { MODEL_NAME } from '../../guard/tensors/protocol.ts';
import type {
  BatchStatistics,
  InferStatistics,
  ModelStatistics,
  StatisticDuration,
} from '../batching/model-statistics.ts';

/** An entry of `model_stats` in Triton's statistics extension, the same over HTTP and gRPC. */
export interface StatisticsEntry {
  readonly name: string;
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly last_inference: number;
  readonly inference_count: number;
  readonly execution_count: number;
  readonly inference_stats: InferStatistics & {
    readonly cache_hit: StatisticDuration;
    readonly cache_miss: StatisticDuration;
  };
  /** For models that answer a request several times, so always empty. */
  readonly response_stats: Readonly<Record<string, never>>;
  readonly batch_stats: readonly BatchStatistics[];
  /** For models on GPUs, so always empty. */
  readonly memory_usage: readonly never[];
}

/** Replies are never cached. */
const NEVER: StatisticDuration = { count: 0, ns: 0 };

export function statisticsEntry(version: string, statistics: ModelStatistics): StatisticsEntry {
  return {
    name: MODEL_NAME,
    version,
    last_inference: statistics.lastInferenceMs,
    inference_count: statistics.inferenceCount,
    execution_count: statistics.executionCount,
    inference_stats: { ...statistics.inferStats, cache_hit: NEVER, cache_miss: NEVER },
    response_stats: {},
    batch_stats: statistics.batchStats,
    memory_usage: [],
  };
}
