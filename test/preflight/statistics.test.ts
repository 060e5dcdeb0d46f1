import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Reservoir, secondsFor, seededRandom, shuffled, wilson } from '../../src/preflight/statistics.ts';

describe('the interval of a share', () => {
  it.each([
    [0, 10, 0, 0.2775],
    [5, 10, 0.2366, 0.7634],
    [10, 10, 0.7225, 1],
    [8, 256, 0.0159, 0.0604],
  ])('is that of Wilson: %i of %i', (hits, trials, low, high) => {
    const estimate = wilson(hits, trials);
    expect(estimate.value).toBe(hits / trials);
    expect(estimate.low).toBeCloseTo(low, 3);
    expect(estimate.high).toBeCloseTo(high, 3);
  });

  it('holds the share, and is within 0 and 1', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (trials, part) => {
          const { value, low, high } = wilson(Math.floor(trials * part), trials);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(low).toBeLessThanOrEqual(value);
          expect(high).toBeGreaterThanOrEqual(value);
          expect(high).toBeLessThanOrEqual(1);
        },
      ),
    );
  });
});

describe('the time of all items', () => {
  it('is the mean time per item of the batches, with an interval that their spread decides', () => {
    const even = [{ batches: Array.from({ length: 8 }, () => ({ items: 4, seconds: 2 })), items: 100 }];
    expect(secondsFor(even, seededRandom(1))).toEqual({ value: 50, low: 50, high: 50 });
    const [fast, slow] = [
      { items: 4, seconds: 1 },
      { items: 4, seconds: 3 },
    ];
    const uneven = [{ batches: [fast, slow, fast, slow, fast, slow, fast, slow], items: 100 }];
    const { value, low, high } = secondsFor(uneven, seededRandom(1));
    expect(value).toBe(50);
    expect(low).toBeGreaterThan(25);
    expect(low).toBeLessThan(45);
    expect(high).toBeGreaterThan(55);
    expect(high).toBeLessThan(75);
  });
});

describe('a sample', () => {
  it('depends on its seed only, and every value has the same chance', () => {
    const sample = (seed: number): number[] => {
      const reservoir = new Reservoir<number>(5, seededRandom(seed));
      for (let value = 0; value < 50; value++) reservoir.add(value);
      return reservoir.values;
    };
    expect(sample(3)).toEqual(sample(3));
    const times = new Array<number>(50).fill(0);
    for (let seed = 0; seed < 2000; seed++) for (const value of sample(seed)) times[value]!++;
    // 200 are expected of each; 100 more or less is seven standard deviations.
    expect(Math.min(...times)).toBeGreaterThan(100);
    expect(Math.max(...times)).toBeLessThan(300);
    expect(shuffled([1, 2, 3, 4], seededRandom(2)).sort()).toEqual([1, 2, 3, 4]);
  });
});
