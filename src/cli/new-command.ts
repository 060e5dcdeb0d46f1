import { Command, Help, Option } from 'commander';
import { flagHelp, flagSyntax } from '../config/settings/describe.ts';
import type { SettingTable } from '../config/settings/given.ts';
import type { Setting } from '../config/settings/setting.ts';
import type { CommandContext } from './context.ts';

/** Width when the output is not a terminal. */
export const HELP_COLUMNS = 100;

/**
 * A command with the flags of `settings`, in their order, that is strict about flags and arguments, writes help to the context's stdout, and throws a
 * CommanderError where commander would write a message or end the process.
 */
export function newCommand(
  name: string,
  { stdout }: Pick<CommandContext, 'stdout'>,
  settings: SettingTable = {},
): Command {
  const command = new Command(name)
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
  for (const setting of Object.values(settings)) command.addOption(optionOf(setting));
  return command;
}

/** Its value stays as typed: it is parsed together with the job file and the environment. */
function optionOf(setting: Setting): Option {
  const option = new Option(flagSyntax(setting), flagHelp(setting));
  // Otherwise commander would give `--no-x` a default, as if it had been typed.
  option.negate = false;
  return setting.kind.isList ? option.argParser(collect) : option;
}

/** Keeps the help of a command to some settings, each with a line that fits 80 columns; `--help all` has every flag in full. */
export function shortenHelp(
  command: Command,
  usual: readonly (readonly [setting: Setting, line: string])[],
): Command {
  const lines = new Map<string | null, string>(usual.map(([{ flag }, line]) => [flag, line]));
  const full = new Help();
  const lineOf = ({ long }: Option): string | undefined =>
    asksForAll(command) ? undefined : lines.get(long ?? null);
  return command.helpOption('-h, --help [all]', 'show this help; all: every flag in full').configureHelp({
    visibleOptions: () =>
      full
        .visibleOptions(command)
        .filter((option) => asksForAll(command) || lineOf(option) !== undefined || option.long === '--help'),
    optionDescription: (option) => lineOf(option) ?? option.description,
  });
}

/** Whether `--help all` or `help <command> all` was typed. */
function asksForAll({ parent }: Command): boolean {
  const words = parent?.args ?? [];
  const at = words[0] === 'help' ? 1 : words.findIndex((word) => word === '--help' || word === '-h');
  return at !== -1 && words[at + 1] === 'all';
}

function collect(value: string, earlier: readonly string[] | undefined): readonly string[] {
  return [...(earlier ?? []), value];
}

/** The examples at the end of a command's help. */
export function examples(lines: readonly (readonly [command: string, does: string])[]): string {
  return `\nExamples:\n${lines.map(([command, does]) => `  # ${does}\n  $ ${command}\n`).join('')}`;
}
