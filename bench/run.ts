import { watchInterrupts } from '../src/terminal/interrupt.ts';
import { standardError, standardOutput } from '../src/terminal/standard-streams.ts';
import { Failure } from '../src/domain/failure.ts';
import { BENCHES } from './catalogue.ts';
import { compareResults, readResults } from './harness/compare.ts';
import { describeMachine, describeVersions } from './harness/machine.ts';
import { benchOptions } from './harness/options.ts';
import { writeResults, type Results } from './harness/results-file.ts';
import { runBench } from './harness/run-bench.ts';
import { benchTable } from './harness/table.ts';

function say(line: string): void {
  standardError().line(line);
}

/** Prints the changes from one results file to another. */
async function compare(files: readonly string[]): Promise<void> {
  const [before, after, ...others] = files;
  if (before === undefined || after === undefined || others.length > 0)
    throw new Failure('usage', 'compare takes two results files: the earlier, then the later');
  standardOutput().lines(compareResults(await readResults(before), await readResults(after)));
}

/**
 * Runs the named benches, by default the usual ones. Prints a table, writes a results file, returns the exit status.
 */
async function runBenches(names: readonly string[], signal: AbortSignal): Promise<number> {
  const options = benchOptions(names, process.env, BENCHES);
  const { seed, scale } = options;
  const machine = describeMachine();
  const versions = describeVersions();
  say(`BENCH_SEED=${seed}, scale ${scale}; ${machine.cpu}, ${machine.cores} cores; load ${machine.load}`);
  const began = new Date().toISOString();
  const benches: Results['benches'][number][] = [];
  /** Rewrites the results file, so a failure or an interrupt loses no earlier figure. */
  const write = (...more: Results['benches']): Promise<string> =>
    writeResults({ began, machine, versions, seed, scale, benches: [...benches, ...more] });
  for (const bench of options.benches) {
    benches.push(await runBench(bench, options, signal, say, async (report) => void (await write(report))));
    await write();
  }
  standardOutput().lines(benchTable(benches));
  say(await write());
  return benches.some(({ failure }) => failure !== null) ? 1 : 0;
}

const HELP = [
  'Usage: npm run bench -- [name...]              without a name: the usual ones',
  '       npm run bench -- compare A.json B.json  what changed beyond noise from one results file to another',
  'BENCH_SEED, BENCH_SCALE (a share, or full) and BENCH_ROUNDS change what they do; docs/benchmarks.md says more.',
  '',
  ...BENCHES.map(({ name, measures }) => `  ${name}: ${measures}`),
];

const interrupts = watchInterrupts(process, { onKill: () => process.exit(130) });
try {
  const names = process.argv.slice(2);
  if (names.some((name) => name === '--help' || name === '-h')) standardOutput().lines(HELP);
  else if (names[0] === 'compare') await compare(names.slice(1));
  else process.exitCode = await runBenches(names, interrupts.drain);
} catch (error) {
  if (!(error instanceof Failure)) throw error;
  say(error.message);
  process.exitCode = error.exitStatus;
} finally {
  interrupts.end();
}
