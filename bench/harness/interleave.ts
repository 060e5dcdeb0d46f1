import type { BenchContext } from './bench.ts';

/** What each of several tasks gave, round by round. */
export type Rounds<Tasks extends Readonly<Record<string, () => Promise<unknown>>>> = {
  readonly [Name in keyof Tasks]: Awaited<ReturnType<Tasks[Name]>>[];
};

/**
 * Runs tasks one after another, all of them in every round, so that what a machine does meanwhile strikes a measurement
 * and its reference alike: A B A B … `usual` is the number of rounds unless BENCH_ROUNDS overrules it.
 */
export async function interleave<Tasks extends Readonly<Record<string, () => Promise<unknown>>>>(
  context: BenchContext,
  usual: number,
  tasks: Tasks,
): Promise<Rounds<Tasks>> {
  const rounds = context.rounds(usual);
  const names = Object.keys(tasks);
  const results: Record<string, unknown[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      context.say(`round ${round + 1} of ${rounds}: ${name}`);
      results[name]!.push(await tasks[name]!());
    }
  }
  return results as Rounds<Tasks>;
}
