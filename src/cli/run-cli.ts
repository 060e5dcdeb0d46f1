import { CommanderError } from 'commander';
import { Failure } from '../domain/failure.ts';
import { isDiskFull } from '../ingest/disk-full.ts';
import type { CommandContext, RunCommands } from './context.ts';
import { buildProgram } from './program.ts';
import { isExpectedEnd, usageFailure } from './usage-failure.ts';
import { describeUnexpected, unexpectedFailure } from './unexpected-error.ts';

/**
 * Runs one command line (the arguments after the program's name) and gives its exit status. A failure is one line on
 * stderr; results are on stdout. Never rejects.
 */
export async function runCli(
  argv: readonly string[],
  context: CommandContext,
  runs: RunCommands,
): Promise<number> {
  let exitStatus = 0;
  try {
    const program = buildProgram(context, runs, (status) => (exitStatus = status));
    await program.parseAsync(argv, { from: 'user' });
    return exitStatus;
  } catch (error) {
    if (error instanceof CommanderError && isExpectedEnd(error)) return 0;
    const interrupted = isAbort(error) && context.interrupts.drain.aborted;
    return reportFailure(
      interrupted ? new Failure('interrupted', 'interrupted', { cause: error }) : error,
      context,
    );
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Says on stderr, in one line, why a command ended, and gives its exit status. */
export function reportFailure(
  error: unknown,
  { stderr, env }: { readonly stderr: NodeJS.WritableStream; readonly env: NodeJS.ProcessEnv },
): number {
  const failure = failureOf(error);
  stderr.write(`guardsweep: ${oneLine(failure.message)}\n`);
  if (env['GUARDSWEEP_DEBUG'] === '1') stderr.write(describeUnexpected(error));
  return failure.exitStatus;
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (isDiskFull(error)) {
    return new Failure('service', 'the disk is full: free some space, then try again', { cause: error });
  }
  return error instanceof CommanderError ? usageFailure(error) : unexpectedFailure(error);
}

/** Messages may carry names of files and columns, which can hold anything. */
function oneLine(message: string): string {
  return message.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
