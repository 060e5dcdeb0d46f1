import { Counter, Gauge, type Registry } from 'prom-client';
import type { GuardPool } from './pool.ts';

/** Registers what is known of the guards: their state, items in flight and waiting, requests, retries and idle time. */
export function addPoolMetrics(registry: Registry, pool: GuardPool): void {
  const registers = [registry];
  const endpoint = ['endpoint'];
  new Gauge({
    name: 'guardsweep_guard_ready',
    help: '1 while a guard endpoint is in use, 0 while it is out',
    labelNames: endpoint,
    registers,
    collect() {
      for (const { name, state } of pool.status())
        this.set({ endpoint: name }, state.name === 'ready' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'guardsweep_guard_items_in_flight',
    help: 'Items in requests in flight to a guard',
    labelNames: endpoint,
    registers,
    collect() {
      for (const { name, inFlight } of pool.status()) this.set({ endpoint: name }, inFlight);
    },
  });
  new Gauge({
    name: 'guardsweep_guard_items_queued',
    help: 'Items bound to one guard that wait to be sent to it, or for its version',
    labelNames: endpoint,
    registers,
    collect() {
      for (const { name, queued } of pool.status()) this.set({ endpoint: name }, queued);
    },
  });
  new Counter({
    name: 'guardsweep_guard_rows_sent_total',
    help: 'Items sent to a guard, including retries',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, sent } of pool.status()) this.inc({ endpoint: name }, sent.rows);
    },
  });
  new Counter({
    name: 'guardsweep_guard_room_sent_total',
    help: 'Item capacity of the requests sent to a guard: rows sent / room sent is the batch fill',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, sent } of pool.status()) this.inc({ endpoint: name }, sent.room);
    },
  });
  new Counter({
    name: 'guardsweep_guard_starved_seconds_total',
    help: 'Time in which a guard in use had spare capacity, but no suitable item was waiting',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, sent } of pool.status()) this.inc({ endpoint: name }, sent.idleMs / 1000);
    },
  });
  new Gauge({
    name: 'guardsweep_items_waiting',
    help: 'Items that wait for any guard with room for them',
    registers,
    collect() {
      this.set(pool.waiting);
    },
  });
  new Counter({
    name: 'guardsweep_guard_requests_total',
    help: 'Requests that a guard answered with verdicts',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, successes } of pool.status()) this.inc({ endpoint: name }, successes);
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
