import { randomInt } from 'node:crypto';
import { expect } from 'vitest';

/** As many seeds as FAULTS_SEEDS says, from FAULTS_SEED on; without it from a new one. */
export function seeds(): readonly number[] {
  const first = Number(process.env.FAULTS_SEED ?? randomInt(1_000_000));
  return Array.from({ length: Number(process.env.FAULTS_SEEDS ?? 1) }, (_, index) => first + index);
}

/** The first outcomes that are not as they should be. */
export function differences(lines: readonly object[], expected: readonly object[]): unknown[] {
  expect(lines).toHaveLength(expected.length);
  return lines
    .map((line, seq) => ({ line: JSON.stringify(line), expected: JSON.stringify(expected[seq]) }))
    .filter((pair) => pair.line !== pair.expected)
    .slice(0, 5);
}
