import type { MetricName } from '../../metrics/metric-table.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { EndpointStatus } from '../endpoint/endpoint-status.ts';
import type { GuardPool } from './pool.ts';

const COUNTERS: readonly (readonly [MetricName<'counter'>, (status: EndpointStatus) => number])[] = [
  ['guardsweep_guard_rows_sent_total', ({ sent }) => sent.rows],
  ['guardsweep_guard_room_sent_total', ({ sent }) => sent.room],
  ['guardsweep_guard_starved_seconds_total', ({ sent }) => sent.idleMs / 1000],
  ['guardsweep_guard_requests_total', ({ successes }) => successes],
];

/** Adds the metrics of guards: their state, items in flight and waiting, requests, retries and idle time. */
export function addPoolMetrics(metrics: Metrics, pool: GuardPool): void {
  metrics.gaugesBy({
    label: 'guard',
    look: () => new Map(pool.status().map((status) => [status.name, status])),
    values: {
      guardsweep_guard_ready: ({ state }) => (state.name === 'ready' ? 1 : 0),
      guardsweep_guard_items_in_flight: ({ inFlight }) => inFlight,
      guardsweep_guard_items_queued: ({ queued }) => queued,
    },
  });
  for (const [name, valueOf] of COUNTERS) {
    metrics.counter(name, (counter) => {
      for (const status of pool.status()) counter.inc({ guard: status.name }, valueOf(status));
    });
  }
  metrics.gauge('guardsweep_items_waiting', (gauge) => gauge.set(pool.waiting));
  metrics.counter('guardsweep_guard_retries_total', (counter) => {
    for (const { name, retries } of pool.status()) {
      for (const [cause, count] of Object.entries(retries)) counter.inc({ guard: name, cause }, count);
    }
  });
}
