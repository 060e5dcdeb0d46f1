import { describe, expect, test } from 'vitest';
import { AdaptiveConcurrency, instanceConcurrency } from '../../../src/guard/concurrency/concurrency.ts';
import { seeded } from '../../helpers/seeded.ts';
import { SimulatedGuard } from '../../helpers/guards/simulated-guard.ts';

const SEED = 20_261_121;
const SHARE = 0.97;
/** Time to find the limit, and time in which throughput is measured, in milliseconds of the simulated clock. */
const FINDING_MS = 120_000;
const MEASURED_MS = 60_000;

/** Milliseconds of successive requests. */
const SERVICE: Readonly<Record<string, (random: () => number) => () => number>> = {
  'always the same': () => () => 25,
  'of the published times': (random) => () => [19, 27, 31, 40][Math.floor(random() * 4)]!,
  'of very mixed lengths': (random) => () => 5 + 300 * random() ** 4,
};

function adaptive(guard: SimulatedGuard, start: number, step: number): AdaptiveConcurrency {
  return new AdaptiveConcurrency({ start, min: 2 * step, max: 4096, step, now: () => guard.now });
}

describe.each(Object.entries(SERVICE))(`requests that take times %s (seed ${SEED})`, (_, serviceOf) => {
  const cases = [1, 32].flatMap((rows) =>
    [4, 16].flatMap((instances) => [2 * rows, 2048].map((start) => ({ rows, instances, start }))),
  );
  test.each(cases)('keep $instances instances busy, from $start rows on, $rows per request', (one) => {
    const { rows, instances, start } = one;
    const guard = new SimulatedGuard({ instances, rows, serviceMs: serviceOf(seeded(SEED)), travelMs: 2 });
    const policy = adaptive(guard, start, rows);
    guard.run(policy, FINDING_MS);
    expect(guard.run(policy, MEASURED_MS).utilisation).toBeGreaterThan(SHARE);
  });

  test('are followed when the guard becomes slower, faster, and larger', () => {
    let slowness = 1;
    const service = serviceOf(seeded(SEED));
    const guard = new SimulatedGuard({
      instances: 4,
      rows: 32,
      serviceMs: () => service() * slowness,
      travelMs: 2,
    });
    const policy = adaptive(guard, 64, 32);
    for (const change of [
      () => (slowness = 4),
      () => (slowness = 0.5),
      () => (guard.instances = 16),
      () => (guard.instances = 2),
    ]) {
      guard.run(policy, FINDING_MS);
      change();
      guard.run(policy, FINDING_MS);
      expect(guard.run(policy, MEASURED_MS).utilisation).toBeGreaterThan(SHARE);
    }
  });
});

test('the limit drops when requests queue in the guard', () => {
  const guard = new SimulatedGuard({ instances: 4, rows: 1, serviceMs: () => 25, travelMs: 2 });
  const policy = adaptive(guard, 2048, 1);
  guard.run(policy, FINDING_MS);
  expect(policy.limit).toBeLessThan(16);
});

test('a high network latency is filled', () => {
  const guard = new SimulatedGuard({ instances: 4, rows: 1, serviceMs: () => 20, travelMs: 180 });
  const policy = adaptive(guard, 8, 1);
  guard.run(policy, FINDING_MS);
  expect(guard.run(policy, MEASURED_MS).utilisation).toBeGreaterThan(SHARE);
});

test('a guard that rejects overloads is kept busy just below its capacity, with few overloads', () => {
  const guard = new SimulatedGuard({
    instances: 4,
    rows: 1,
    serviceMs: () => 25,
    travelMs: 2,
    maxWaiting: 6,
  });
  const policy = adaptive(guard, 64, 1);
  guard.run(policy, FINDING_MS);
  const { utilisation, overloads } = guard.run(policy, MEASURED_MS);
  expect(utilisation).toBeGreaterThan(0.95);
  // Of about 9600 requests.
  expect(overloads).toBeLessThan(200);
});

test('overloads halve the limit, down to a single row', () => {
  const policy = new AdaptiveConcurrency({ start: 64, min: 64, max: 4096, step: 8, now: () => 0 });
  policy.overloaded();
  expect(policy.limit).toBe(32);
  for (let time = 0; time < 20; time++) policy.overloaded();
  expect(policy.limit).toBe(1);
});

test.each([1, 2, 4])(
  'a guard of %i instances that was overloaded many times in a row is filled again',
  (instances) => {
    const guard = new SimulatedGuard({ instances, rows: 32, serviceMs: () => 25, travelMs: 2 });
    const policy = adaptive(guard, 2 * instances * 32, 32);
    guard.run(policy, FINDING_MS);
    for (let time = 0; time < 6; time++) policy.overloaded();
    guard.run(policy, FINDING_MS);
    expect(guard.run(policy, MEASURED_MS).utilisation).toBeGreaterThan(SHARE);
  },
);

test('the limit stays while it does not hold anything back', () => {
  const policy = new AdaptiveConcurrency({ start: 8, min: 2, max: 4096, step: 1, now: () => 0 });
  for (let time = 0; time < 10_000; time++) policy.completed({ rows: 1, latencyMs: time, supplied: false });
  expect(policy.limit).toBe(8);
});

test('starts with three full requests per instance, within bounds', () => {
  expect(instanceConcurrency(4, 32).limit).toBe(384);
  expect(instanceConcurrency(1, 0).limit).toBe(8);
  expect(instanceConcurrency(1000, 64).limit).toBe(4096);
});
