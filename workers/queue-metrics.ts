import { readDepths } from '../src/fleet/redis/depths.ts';
import type { Metrics } from '../src/metrics/metrics.ts';
import type { RedisLink } from '../src/queue/redis/link.ts';

/** Timeout for Redis during a scrape, in milliseconds. */
const ANSWER_WITHIN_MS = 1000;

/**
 * Adds a gauge for the depth of the fleet's queues. Only sinks have it: workers are many, and would report the same.
 */
export function addQueueMetrics(metrics: Metrics, link: RedisLink): void {
  metrics.gauge('guardsweep_queue_jobs', async (gauge) => {
    if (link.away) return;
    const depths = await readDepths(link, AbortSignal.timeout(ANSWER_WITHIN_MS)).catch(() => []);
    for (const { queue, waiting, active, delayed } of depths) {
      gauge.set({ queue, state: 'waiting' }, waiting);
      gauge.set({ queue, state: 'active' }, active);
      gauge.set({ queue, state: 'delayed' }, delayed);
    }
  });
}
