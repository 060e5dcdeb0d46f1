import { Command } from 'commander';
import type { CommandContext } from './context.ts';

const HELP_COLUMNS = 100;

/**
 * A command that is strict about flags and arguments, writes help to the context's stdout, and throws a
 * CommanderError where commander would write a message or end the process.
 */
export function newCommand(name: string, { stdout }: Pick<CommandContext, 'stdout'>): Command {
  return new Command(name)
    .exitOverride()
    .configureOutput({
      // Help and version consist of our own lines.
      writeOut: (text) => stdout.lines(text.replace(/\n$/, '').split('\n')),
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => stdout.columns ?? HELP_COLUMNS,
      getOutHasColors: () => false,
    })
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError(true)
    .allowExcessArguments(false);
}

/** The examples at the end of a command's help: what to type, and what it does. */
export function examples(lines: readonly (readonly [command: string, does: string])[]): string {
  return `\nExamples:\n${lines.map(([command, does]) => `  # ${does}\n  $ ${command}\n`).join('')}`;
}
