import { describe, expect, it } from 'vitest';
import type { Bench } from '../../bench/harness/bench.ts';
import { compareResults } from '../../bench/harness/compare.ts';
import { figure } from '../../bench/harness/figures.ts';
import { benchOptions } from '../../bench/harness/options.ts';
import { runBench } from '../../bench/harness/run-bench.ts';
import { benchTable } from '../../bench/harness/table.ts';
import { Failure } from '../../src/domain/failure.ts';

const run = async () => ({ figures: [], raw: {} });
const bench = (name: string, onlyWhenAsked = false): Bench => ({ name, measures: '', onlyWhenAsked, run });
const ALL = [bench('one'), bench('two'), bench('long', true)];
const namesOf = (names: readonly string[], env: NodeJS.ProcessEnv = {}): string[] =>
  benchOptions(names, env, ALL).benches.map(({ name }) => name);

describe('which benches run, and how', () => {
  it('is all that do not take long, unless some are named or all asked for', () => {
    expect(namesOf([])).toEqual(['one', 'two']);
    expect(namesOf(['long', 'one'])).toEqual(['long', 'one']);
    expect(namesOf([], { BENCH_SCALE: 'full' })).toEqual(['one', 'two', 'long']);
    expect(() => namesOf(['three'])).toThrow('one, two, long');
  });

  it('is set by the environment, and refused when it makes no sense', () => {
    const env = { BENCH_SEED: '7', BENCH_SCALE: '0.1', BENCH_ROUNDS: '2' };
    expect(benchOptions([], env, ALL)).toMatchObject({ seed: 7, scale: 0.1, rounds: 2 });
    expect(benchOptions([], {}, ALL)).toMatchObject({ scale: 1, rounds: null });
    for (const wrong of [{ BENCH_SEED: 'x' }, { BENCH_SCALE: '0' }, { BENCH_ROUNDS: '0' }]) {
      expect(() => benchOptions([], wrong, ALL)).toThrow(Object.keys(wrong)[0]);
    }
  });
});

const options = { benches: [], seed: 1, scale: 1, rounds: 1 };
const { signal } = new AbortController();
const half = (reason: Error): Bench => ({
  ...bench('half'),
  run: async (context) => {
    await context.keep([figure('first', '', [1])], { first: [1] });
    throw reason;
  },
});

it('a bench that fails has what it measured before written down and reported', async () => {
  const written: unknown[] = [];
  const write = async (report: unknown): Promise<void> => void written.push(report);
  const failed = half(new Failure('internal', 'an image was not decoded'));
  const report = await runBench(failed, options, signal, () => {}, write);
  const soFar = { bench: 'half', figures: [{ name: 'first', measured: 1 }], raw: { first: [1] } };
  expect(report).toMatchObject({ ...soFar, failure: 'an image was not decoded' });
  expect(written).toMatchObject([soFar]);
  expect(benchTable([report]).join('\n')).toMatch(
    /^half +first +1\b.*\n^half +failed: an image was not decoded$/m,
  );
});

describe('two results', () => {
  const machine = { cpu: 'a processor', cores: 4 };
  const results = (...figures: ReturnType<typeof figure>[]) => {
    return { scale: 1, machine, benches: [{ bench: 'one', figures }] };
  };

  it('differ beyond noise where the ranges of their rounds do not overlap', () => {
    const before = results(
      ...[figure('slower', 'µs', [10, 11, 12]), figure('faster', 'µs', [10, 11, 12])],
      ...[figure('same', '', [1, 2]), figure('once', '', [1]), figure('gone', '', [1, 2])],
    );
    const after = results(
      ...[figure('slower', 'µs', [13, 22, 23]), figure('faster', 'µs', [9, 8, 7])],
      ...[figure('same', '', [2, 3]), figure('once', '', [5]), figure('new', '', [1, 2])],
    );
    expect(compareResults(before, after).map((line) => line.split(/ {2,}/))).toEqual([
      ['bench', 'figure', 'before', 'after', 'ratio', 'beyond noise'],
      ['one', 'slower', '11 µs', '22 µs', '2', 'higher'],
      ['one', 'faster', '11 µs', '8 µs', '0.727', 'lower'],
      ['one', 'same', '1.5', '2.5', '1.67', 'no'],
      ['one', 'once', '1', '5', '5', 'unknown: one round'],
    ]);
  });
});
