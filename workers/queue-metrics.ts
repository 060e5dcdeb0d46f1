import { Gauge, type Registry } from 'prom-client';
import type { RedisLink } from '../src/queue/redis/link.ts';
import { readDepths } from '../src/fleet/redis/depths.ts';

/** Timeout for Redis during a scrape, in milliseconds. */
const ANSWER_WITHIN_MS = 1000;

/** Adds gauges for the depth of the fleet's queues and for the connection to Redis. */
export function addQueueMetrics(registry: Registry, link: RedisLink): void {
  const registers = [registry];
  new Gauge({
    name: 'guardsweep_redis_up',
    help: '1 while Redis can be reached',
    registers,
    collect() {
      this.set(link.away ? 0 : 1);
    },
  });
  new Gauge({
    name: 'guardsweep_queue_jobs',
    help: 'Jobs of the fleet by queue and state',
    labelNames: ['queue', 'state'],
    registers,
    async collect() {
      this.reset();
      if (link.away) return;
      const depths = await readDepths(link, AbortSignal.timeout(ANSWER_WITHIN_MS)).catch(() => []);
      for (const { queue, waiting, active, delayed } of depths) {
        this.set({ queue, state: 'waiting' }, waiting);
        this.set({ queue, state: 'active' }, active);
        this.set({ queue, state: 'delayed' }, delayed);
      }
    },
  });
}
