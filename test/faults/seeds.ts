import { randomInt } from 'node:crypto';

/** As many seeds as FAULTS_SEEDS says, from FAULTS_SEED on; without it from a new one. */
export function seeds(): readonly number[] {
  const first = Number(process.env.FAULTS_SEED ?? randomInt(1_000_000));
  return Array.from({ length: Number(process.env.FAULTS_SEEDS ?? 1) }, (_, index) => first + index);
}
