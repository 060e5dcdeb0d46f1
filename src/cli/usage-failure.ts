import type { CommanderError } from 'commander';
import { Failure } from '../domain/failure.ts';

/** Whether commander ended the command because it did what was asked for: help, or the version. */
export function isExpectedEnd(error: CommanderError): boolean {
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
}

/** Commander's complaint about the command line as one of ours: one line, exit status 2. */
export function usageFailure(error: CommanderError): Failure {
  if (error.code === 'commander.help') {
    return new Failure('usage', 'no command given; guardsweep help lists them', { cause: error });
  }
  const message = error.message
    .replace(/^error: /, '')
    .replace(/\n\(Did you mean ([^)]*)\)$/, '; did you mean $1');
  return new Failure('usage', message, { cause: error });
}
