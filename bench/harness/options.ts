import { randomInt } from 'node:crypto';
import { Failure } from '../../src/domain/failure.ts';
import type { Bench } from './bench.ts';

export interface BenchOptions {
  readonly benches: readonly Bench[];
  readonly seed: number;
  /** Share of the full numbers of rows. */
  readonly scale: number;
  /** Null: as each bench has it. */
  readonly rounds: number | null;
}

const SEEDS = 1_000_000;

/**
 * What to run: the benches named, else all but those that run only when asked, and the settings BENCH_SEED (a whole
 * number; default a new one), BENCH_SCALE (a share of the full numbers of rows, or `full`: all of them, and the long
 * benches too; default 1) and BENCH_ROUNDS (default as each bench has it). Failure('usage') for anything else.
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
