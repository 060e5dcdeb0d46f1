import { describe, expect, test } from 'vitest';
import { AdaptiveConcurrency } from '../../../src/guard/concurrency/concurrency.ts';
import { random } from '../../helpers/corpus.ts';
import { SimulatedGuard } from '../../helpers/guards/simulated-guard.ts';

const SEED = 20_261_121;
const MIN_UTILISATION = 0.97;
/** Time to find the limit, and time in which throughput is measured, in milliseconds of the simulated clock. */
const FINDING_MS = 120_000;
const MEASURED_MS = 60_000;

/** Milliseconds of successive requests. */
const SERVICE: Readonly<Record<string, (random: () => number) => () => number>> = {
  'always the same': () => () => 25,
  'of very mixed lengths': (random) => () => 5 + 300 * random() ** 4,
};

function adaptive(start: number, step: number): AdaptiveConcurrency {
  return new AdaptiveConcurrency({ start, min: 2 * step, max: 4096, step });
}

describe.each(Object.entries(SERVICE))(`requests that take times %s (seed ${SEED})`, (_, serviceOf) => {
  const cases = [1, 32].flatMap((rows) =>
    [4, 16].flatMap((instances) => [2 * rows, 2048].map((start) => ({ rows, instances, start }))),
  );
  test.each(cases)('keep $instances instances busy, from $start rows on, $rows per request', (one) => {
    const { rows, instances, start } = one;
    const guard = new SimulatedGuard({ instances, rows, serviceMs: serviceOf(random(SEED)), travelMs: 2 });
    const policy = adaptive(start, rows);
    guard.run(policy, FINDING_MS);
    expect(guard.run(policy, MEASURED_MS)).toBeGreaterThan(MIN_UTILISATION);
  });
});

test('a latency of more than twice the lowest halves the limit, down to the min', () => {
  const policy = new AdaptiveConcurrency({ start: 64, min: 24, max: 64, step: 1 });
  const answer = (requests: number, latencyMs: number): void => {
    for (let n = 0; n < requests; n++) policy.completed({ rows: 1, latencyMs, supplied: true });
  };
  answer(128, 10);
  answer(128, 19);
  expect(policy.limit).toBe(64);
  answer(128, 21);
  expect(policy.limit).toBe(32);
  // What was sent under the earlier limit does not count.
  answer(64, 1000);
  expect(policy.limit).toBe(32);
  answer(128, 1000);
  expect(policy.limit).toBe(24);
});

test('overloads halve the limit, down to a single row, and the guard is filled again', () => {
  const guard = new SimulatedGuard({ instances: 4, rows: 32, serviceMs: () => 25, travelMs: 2 });
  const policy = adaptive(256, 32);
  policy.overloaded();
  expect(policy.limit).toBe(128);
  for (let time = 0; time < 20; time++) policy.overloaded();
  expect(policy.limit).toBe(1);
  guard.run(policy, FINDING_MS);
  expect(guard.run(policy, MEASURED_MS)).toBeGreaterThan(MIN_UTILISATION);
});
