import { CommanderError } from 'commander';
import { DEBUG } from '../config/settings/entries/environment.ts';
import { Failure } from '../domain/failure.ts';
import { ownCommand } from '../domain/text/own-command.ts';
import { FileTooLarge, NotAnOrdinaryFile } from '../files/open-file.ts';
import { isDiskFull } from '../files/disk-full.ts';
import type { LineWriter } from '../terminal/line-writer.ts';
import type { CommandContext, LoadRuns } from './context.ts';
import { refuseLostFlags } from './npm/lost-flags.ts';
import { buildProgram } from './program.ts';
import { isExpectedEnd, usageFailure } from './usage-failure.ts';
import { describeUnexpected, unexpectedFailure } from './unexpected-error.ts';

/**
 * Runs one command line (the arguments after the program's name) and returns its exit status. A failure is one line on
 * stderr; results are on stdout. Never rejects.
 */
export async function runCli(
  argv: readonly string[],
  context: CommandContext,
  loadRuns: LoadRuns,
): Promise<number> {
  let exitStatus = 0;
  try {
    const program = buildProgram(context, loadRuns, (status) => (exitStatus = status));
    await refuseLostFlags(argv, program, context.env);
    await program.parseAsync(argv, { from: 'user' });
    return exitStatus;
  } catch (error) {
    if (error instanceof CommanderError && isExpectedEnd(error)) return 0;
    const interrupted = isAbort(error) && context.interrupts.drain.aborted;
    if (interrupted)
      return reportFailure(new Failure('interrupted', 'interrupted', { cause: error }), context);
    const help = ownCommand('help', argv.slice(0, 1), context.env);
    return reportFailure(error instanceof CommanderError ? usageFailure(error, help) : error, context);
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Prints one line on stderr that says why a command failed, and returns its exit status. */
export function reportFailure(
  error: unknown,
  { stderr, env }: { readonly stderr: LineWriter; readonly env: NodeJS.ProcessEnv },
): number {
  const failure = failureOf(error);
  stderr.line(`guardsweep: ${failure.message}`);
  if (env[DEBUG.name] === '1') stderr.lines(describeUnexpected(error));
  return failure.exitStatus;
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  if (isDiskFull(error)) {
    return new Failure('service', 'the disk is full: free some space, then try again', { cause: error });
  }
  if (error instanceof NotAnOrdinaryFile || error instanceof FileTooLarge) {
    return new Failure('internal', `${error.path} cannot be used: ${error.message}`, { cause: error });
  }
  return unexpectedFailure(error);
}
