import { expect } from 'vitest';

const SMALL = 50_000;
const TIMES = 4;
/** Generous: linear work takes four times as long, quadratic sixteen times. */
const MAX_RATIO = 10;
/** In milliseconds: what a garbage collector may add; quadratic work takes seconds. */
const NOISE_MS = 250;

/** Expects that work on a text of four times the length takes about four times the processor time. */
export function expectLinear(textOf: (length: number) => string, work: (text: string) => unknown): void {
  const fastest = (length: number): number => {
    const text = textOf(length);
    const times = Array.from({ length: 3 }, () => {
      const begun = process.cpuUsage();
      work(text);
      return process.cpuUsage(begun).user / 1000;
    });
    return Math.min(...times);
  };
  const small = fastest(SMALL);
  expect(fastest(SMALL * TIMES)).toBeLessThan(MAX_RATIO * small + NOISE_MS);
}
