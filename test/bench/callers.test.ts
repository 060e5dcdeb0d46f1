import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DOORS } from '../../bench/traffic/doors.ts';
import { type Load, runLoad } from '../../bench/traffic/load.ts';
import { guardMetrics } from '../../src/guard-server/service/guard-metrics.ts';
import { startGuardServer, type GuardServer } from '../../src/guard-server/server.ts';
import { settled } from '../helpers/settled.ts';

const CALLERS = 50;
const MS = 500;

/** Gauges of what is open. */
const OPEN = [
  'nv_inference_pending_request_count',
  'guardsweep_moderation_streams_open',
  'guardsweep_moderation_streams_unjudged_code_units',
];

describe('many callers at a time, some of whose requests are bad', () => {
  const seed = randomInt(1_000_000);
  let server: GuardServer;

  beforeAll(async () => {
    const synthetic = { serviceTime: 'zero' } as const;
    server = await startGuardServer({ model: 'synthetic', grpcPort: 0, httpPort: 0, synthetic });
  });

  afterAll(() => server.close());

  it.each(DOORS)(`all get their own verdict or error over $name (seed ${seed})`, async (door) => {
    const guard = { grpc: server.address, http: server.httpAddress! };
    const callers = await door.callers(guard, CALLERS, seed);
    const kinds = new Set<boolean>();
    let load: Load;
    // On a loaded machine, nobody may get as far as a good request in this time.
    do {
      load = await runLoad(callers, MS, new AbortController().signal);
      for (const { isBad } of Object.values(load.kinds)) kinds.add(isBad);
    } while (!kinds.has(false) && load.examples.length === 0);
    for (const caller of callers) caller.close();
    expect(load.examples).toEqual([]);
    expect(Object.keys(load.kinds)).toEqual(expect.arrayContaining([...door.badKinds]));
    expect(kinds).toContain(false);
    await settled(async () => {
      const metrics = await guardMetrics(server.observed).getMetricsAsJSON();
      const open = metrics.filter(({ name }) => OPEN.includes(name));
      const isIdle = open.every(({ values }) => values.every(({ value }) => value === 0));
      return open.length === OPEN.length && isIdle;
    });
  });

  it.each(DOORS)('see a wrong answer over $name', async (door) => {
    const guard = { grpc: server.address, http: server.httpAddress! };
    const [caller] = await door.callers(guard, 1, seed);
    server.synthetic!.setFaults([{ kind: 'refuse', containing: 'a', code: 'GUARD_REJECTED' }]);
    let wrong: string | null = null;
    while (wrong === null) ({ wrong } = await caller!.exchange());
    server.synthetic!.setFaults([]);
    caller!.close();
    expect(wrong).toContain('GUARD_REJECTED');
  });
});
