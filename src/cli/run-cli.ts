import { CommanderError } from 'commander';
import { Failure } from '../domain/failure.ts';
import { type CommandContext, type RunCommands } from './context.ts';
import { buildProgram } from './program.ts';
import { isExpectedEnd, usageFailure } from './usage-failure.ts';
import { describeUnexpected } from './unexpected-error.ts';

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
    const failure = failureOf(error, context);
    context.stderr.write(`guardsweep: ${oneLine(failure.message)}\n`);
    if (context.env['GUARDSWEEP_DEBUG'] === '1') context.stderr.write(describeUnexpected(error));
    return failure.exitStatus;
  }
}

function failureOf(error: unknown, { interrupts }: CommandContext): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof CommanderError) return usageFailure(error);
  const aborted = error instanceof Error && error.name === 'AbortError';
  if (aborted && interrupts.drain.aborted) return new Failure('interrupted', 'interrupted', { cause: error });
  // The message of an error we did not expect may quote what was being read.
  const name = error instanceof Error ? error.name : typeof error;
  const code = error instanceof Error && 'code' in error ? ` ${String(error.code)}` : '';
  return new Failure(
    'internal',
    `unexpected error (${name}${code}); GUARDSWEEP_DEBUG=1 shows where it happened`,
    { cause: error },
  );
}

/** Messages may carry names of files and columns, which can hold anything. */
function oneLine(message: string): string {
  return message.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, ' ').trim();
}
