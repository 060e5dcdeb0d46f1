import fc from 'fast-check';
import { expect, test } from 'vitest';
import { atThreshold, bestThreshold, type Scored } from '../../src/analysis/labels/thresholds.ts';

const scores = fc.array(
  fc.integer({ min: 0, max: 20 }).map((twentieth) => twentieth / 20),
  { maxLength: 30 },
);
const few = fc.nat({ max: 3 });

const scored: fc.Arbitrary<Scored> = fc.record({
  positive: scores,
  negative: scores,
  unknownPositive: few,
  unknownNegative: few,
});

/** Precision, recall and F1 when `a` of the unknown are found that are labelled true, and `b` that are labelled false. */
function model(
  of: Scored,
  threshold: number,
  a: number,
  b: number,
): Record<'precision' | 'recall' | 'f1', number> {
  const tp = of.positive.filter((score) => score >= threshold).length + a;
  const fp = of.negative.filter((score) => score >= threshold).length + b;
  const fn = of.positive.length + of.unknownPositive - tp;
  const ratio = (part: number, whole: number): number => (whole === 0 ? NaN : part / whole);
  return { precision: ratio(tp, tp + fp), recall: ratio(tp, tp + fn), f1: ratio(2 * tp, 2 * tp + fp + fn) };
}

const every = fc.integer({ min: 0, max: 20 }).map((twentieth) => twentieth / 20);

test('what a threshold reaches lies between the extremes of all that unknown scores could be', () => {
  fc.assert(
    fc.property(scored, every, (of, threshold) => {
      const reached = atThreshold(of, threshold);
      for (const key of ['precision', 'recall', 'f1'] as const) {
        const all: number[] = [];
        for (let a = 0; a <= of.unknownPositive; a++) {
          for (let b = 0; b <= of.unknownNegative; b++) {
            const value = model(of, threshold, a, b)[key];
            if (!Number.isNaN(value)) all.push(value);
          }
        }
        const share = reached[key];
        if (all.length === 0) expect(share).toBeNull();
        else {
          expect(share!.max).toBeCloseTo(Math.max(...all), 12);
          expect(share!.min).toBeLessThanOrEqual(Math.min(...all) + 1e-12);
        }
      }
    }),
  );
});

test('the best threshold is the one that trying every score finds', () => {
  const minimum = fc.option(fc.constantFrom(0, 0.25, 0.5, 0.75, 0.9, 1));
  fc.assert(
    fc.property(scored, minimum, minimum, (of, precision, recall) => {
      const found = bestThreshold(of, { precision, recall });
      let best: number | null = null;
      for (const threshold of new Set([...of.positive, ...of.negative])) {
        const each = atThreshold(of, threshold);
        if (precision !== null && !(each.precision !== null && each.precision.min >= precision)) continue;
        if (recall !== null && !(each.recall !== null && each.recall.min >= recall)) continue;
        best = Math.max(best ?? 0, each.f1?.min ?? 0);
      }
      if (best === null) expect(found).toBeNull();
      else {
        expect(found!.f1?.min ?? 0).toBe(best);
        expect(found).toEqual(atThreshold(of, found!.threshold));
      }
    }),
  );
});
