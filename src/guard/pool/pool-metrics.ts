import { Counter, Gauge, type Registry } from 'prom-client';
import type { EndpointStatus } from '../endpoint/endpoint-status.ts';
import type { GuardPool } from './pool.ts';

type ByEndpoint = readonly [name: string, help: string, value: (status: EndpointStatus) => number];

const GAUGES: readonly ByEndpoint[] = [
  [
    'guardsweep_guard_ready',
    '1 while a guard endpoint is in use, 0 while it is out',
    ({ state }) => (state.name === 'ready' ? 1 : 0),
  ],
  ['guardsweep_guard_items_in_flight', 'Items in requests in flight to a guard', ({ inFlight }) => inFlight],
  [
    'guardsweep_guard_items_queued',
    'Items bound to one guard that wait to be sent to it, or for its version',
    ({ queued }) => queued,
  ],
];

const COUNTERS: readonly ByEndpoint[] = [
  ['guardsweep_guard_rows_sent_total', 'Items sent to a guard, including retries', ({ sent }) => sent.rows],
  [
    'guardsweep_guard_room_sent_total',
    'Item capacity of the requests sent to a guard: rows sent / room sent is the batch fill',
    ({ sent }) => sent.room,
  ],
  [
    'guardsweep_guard_starved_seconds_total',
    'Time in which a guard in use had spare capacity, but no suitable item was waiting',
    ({ sent }) => sent.idleMs / 1000,
  ],
  [
    'guardsweep_guard_requests_total',
    'Requests that a guard answered with verdicts',
    ({ successes }) => successes,
  ],
];

/** Registers metrics of the guards: their state, items in flight and waiting, requests, retries and idle time. */
export function addPoolMetrics(registry: Registry, pool: GuardPool): void {
  const registers = [registry];
  const labelNames = ['endpoint'];
  for (const [name, help, value] of GAUGES) {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const status of pool.status()) this.set({ endpoint: status.name }, value(status));
      },
    });
  }
  for (const [name, help, value] of COUNTERS) {
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset();
        for (const status of pool.status()) this.inc({ endpoint: status.name }, value(status));
      },
    });
  }
  new Gauge({
    name: 'guardsweep_items_waiting',
    help: 'Items that wait for any guard with room for them',
    registers,
    collect() {
      this.set(pool.waiting);
    },
  });
  new Counter({
    name: 'guardsweep_guard_retries_total',
    help: 'Requests retried, by cause',
    labelNames: ['endpoint', 'cause'],
    registers,
    collect() {
      this.reset();
      for (const { name, retries } of pool.status()) {
        for (const [cause, count] of Object.entries(retries)) this.inc({ endpoint: name, cause }, count);
      }
    },
  });
}
