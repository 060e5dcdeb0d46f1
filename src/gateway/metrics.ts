import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { GuardPool } from '../guard/pool/pool.ts';
import { addPoolMetrics } from '../guard/pool/pool-metrics.ts';
import { Metrics } from '../metrics/metrics.ts';
import { addStreamMetrics, type ObservedStreams } from '../http/streams/stream-metrics.ts';

/** Bucket bounds in seconds, from the fastest text to the default time limit. */
const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50];

interface Observed {
  readonly pool: GuardPool;
  readonly streams: ObservedStreams;
  /** Requests without a reply, and those of them that wait for admission. */
  readonly open: () => number;
  readonly waiting: () => number;
}

export interface GatewayMetrics {
  readonly registry: Registry;
  /** `status` is the status of the response, or `aborted` if the client did not read it. */
  answered(route: string, status: string, seconds: number): void;
}

/**
 * The metrics of `serve`: requests by route and status, their duration, open requests, streams, guards, and the
 * process.
 */
export function gatewayMetrics({ pool, streams, open, waiting }: Observed): GatewayMetrics {
  const metrics = new Metrics();
  const { registry } = metrics;
  collectDefaultMetrics({ register: registry });
  const requests = metrics.counter('guardsweep_gateway_requests_total');
  const seconds = metrics.histogram('guardsweep_gateway_request_seconds', SECONDS_BUCKETS);
  metrics.gauge('guardsweep_gateway_requests_open', (gauge) => gauge.set(open()));
  metrics.gauge('guardsweep_gateway_requests_waiting', (gauge) => gauge.set(waiting()));
  addStreamMetrics(registry, streams);
  addPoolMetrics(metrics, pool);
  return {
    registry,
    answered: (route, status, took) => {
      requests.inc({ route, status });
      seconds.observe({ route }, took);
    },
  };
}
