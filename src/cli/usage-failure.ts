import type { CommanderError } from 'commander';
import { Failure } from '../domain/failure.ts';

/** Whether commander ended the command because it did what was asked for: help, or the version. */
export function isExpectedEnd(error: CommanderError): boolean {
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
}

/** Where the help of the command says what was expected. */
const EXPLAINED_BY_HELP: ReadonlySet<string> = new Set([
  'commander.missingArgument',
  'commander.excessArguments',
]);

/**
 * Commander's complaint about the command line as one of ours: one line, exit status 2. `help` is the command to type for
 * the help of the command.
 */
export function usageFailure(error: CommanderError, help: string): Failure {
  if (error.code === 'commander.help') {
    return new Failure('usage', 'no command given; guardsweep help lists them', { cause: error });
  }
  const complaint = error.message.replace(/^error: /, '').replace(/\.$/, '');
  const message = nearChoice(unknownChoice(complaint));
  const see = EXPLAINED_BY_HELP.has(error.code) ? `; see: ${help}` : '';
  return new Failure('usage', message + see, { cause: error });
}

/** Commander's complaint about an argument that is none of its choices, shortened; any other as it is. */
function unknownChoice(message: string): string {
  const [before, between, after] = [
    'command-argument value ',
    ' is invalid for argument ',
    '. Allowed choices are ',
  ];
  // The value may hold any of these, what follows it holds none.
  const choicesAt = message.lastIndexOf(after);
  const argumentAt = message.lastIndexOf(between, choicesAt);
  if (!message.startsWith(before) || choicesAt < 0 || argumentAt < 0) return message;
  return `${message.slice(before.length, argumentAt)} is not known; known: ${message.slice(choicesAt + after.length)}`;
}

/** Commander's proposal after a line break, in the same line. */
function nearChoice(message: string): string {
  const proposal = '\n(Did you mean ';
  const at = message.lastIndexOf(proposal);
  if (at < 0 || !message.endsWith(')')) return message;
  return `${message.slice(0, at)}; did you mean ${message.slice(at + proposal.length, -1)}`;
}
