import { randomInt } from 'node:crypto';
import { Failure } from '../../src/domain/failure.ts';
import type { Bench } from './bench.ts';

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly seed: number;
  /** Factor for the numbers of rows. */
  readonly scale: number;
  /** Null for each bench's default. */
  readonly rounds: number | null;
}

const SEEDS = 1_000_000;

/**
 * Reads the benches to run, by default all except those that run only when asked, and the settings BENCH_SEED (an
 * integer; default random), BENCH_SCALE (a factor for the numbers of rows, or `full`: unscaled, and including the long
 * benches; default 1) and BENCH_ROUNDS (default: each bench's own). Failure('usage') for anything else.
 */
export function benchOptions(
  names: readonly string[],
  env: NodeJS.ProcessEnv,
  all: readonly Bench[],
): BenchOptions {
  const known = all.map(({ name }) => name).join(', ');
  const full = env['BENCH_SCALE'] === 'full';
  const named = names.map((name) => {
    const bench = all.find((candidate) => candidate.name === name);
    if (bench === undefined)
      throw new Failure('usage', `there is no bench ${JSON.stringify(name)}: there are ${known}`);
    return bench;
  });
  const usual = all.filter(({ onlyWhenAsked }) => full || onlyWhenAsked !== true);
  return {
    benches: named.length > 0 ? named : usual,
    seed: numberIn(env, 'BENCH_SEED', Number.isSafeInteger) ?? randomInt(SEEDS),
    scale: full ? 1 : (numberIn(env, 'BENCH_SCALE', (value) => value > 0) ?? 1),
    rounds: numberIn(env, 'BENCH_ROUNDS', (value) => Number.isSafeInteger(value) && value >= 1),
  };
}

function numberIn(env: NodeJS.ProcessEnv, name: string, fits: (value: number) => boolean): number | null {
  const text = env[name];
  if (text === undefined || text === '') return null;
  const value = Number(text);
  if (!fits(value)) throw new Failure('usage', `${name} is not a number that can be used`);
  return value;
}
