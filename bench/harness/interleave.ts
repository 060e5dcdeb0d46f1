import type { BenchContext } from './bench.ts';

/** The results of each task, by round. */
type Rounds<Tasks extends Readonly<Record<string, () => Promise<unknown>>>> = {
  readonly [Name in keyof Tasks]: Awaited<ReturnType<Tasks[Name]>>[];
};

/**
 * Runs all tasks one after another in every round (A B A B), so other load on the machine affects a measurement and its
 * reference alike. `usual` is the number of rounds, unless BENCH_ROUNDS overrides it.
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
