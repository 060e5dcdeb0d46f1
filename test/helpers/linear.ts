import { expect } from 'vitest';

const SMALL = 50_000;
const TIMES = 4;
/** Generous: linear work takes four times as long, quadratic sixteen times. */
const MAX_RATIO = 10;
/** In milliseconds: what a busy machine and a garbage collector may add; quadratic work takes seconds. */
const NOISE_MS = 250;

/** Expects that work on a text of four times the length takes about four times as long. */
export function expectLinear(textOf: (length: number) => string, work: (text: string) => unknown): void {
  const fastest = (length: number): number => {
    const text = textOf(length);
    const times = Array.from({ length: 3 }, () => {
      const begunAt = performance.now();
      work(text);
      return performance.now() - begunAt;
    });
    return Math.min(...times);
  };
  const small = fastest(SMALL);
  expect(fastest(SMALL * TIMES)).toBeLessThan(MAX_RATIO * small + NOISE_MS);
}
