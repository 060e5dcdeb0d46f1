import { Command, Help, Option } from 'commander';
import { flagHelp, flagSyntax } from '../config/settings/describe.ts';
import { forGlob, FILE_SETTINGS, FOR } from '../config/settings/entries/file-settings.ts';
import { flagName, type SettingTable } from '../config/settings/given.ts';
import type { Setting } from '../config/settings/setting.ts';
import { usageError } from '../config/usage-error.ts';
import type { CommandContext } from './context.ts';

/** Width when the output is not a terminal. */
export const HELP_COLUMNS = 100;

/**
 * Creates a command with the flags of `settings`, in their order. It is strict about flags and arguments, writes help
 * to the context's stdout, and throws a CommanderError where commander would write a message or end the process.
 */
export function newCommand(
  name: string,
  { stdout }: Pick<CommandContext, 'stdout'>,
  settings: SettingTable = {},
): Command {
  const command = new Command(name)
    .exitOverride()
    .configureOutput({
      // Help and version consist only of our own lines.
      writeOut: (text) => stdout.lines(text.replace(/\n$/, '').split('\n')),
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => stdout.columns ?? HELP_COLUMNS,
      getOutHasColors: () => false,
    })
    .helpOption('-h, --help', 'show this help')
    .showSuggestionAfterError(true)
    .allowExcessArguments(false);
  const all = Object.values(settings);
  for (const setting of all) {
    const option = optionOf(setting);
    command.addOption(all.includes(FOR) && setting !== FOR ? applyFor(command, setting, option) : option);
  }
  return command;
}

/**
 * Creates the option of a setting. Its value stays as typed: it is parsed together with the job file and the
 * environment.
 */
function optionOf(setting: Setting): Option {
  const option = new Option(flagSyntax(setting), flagHelp(setting));
  // Otherwise commander would treat `--no-x` as set by default.
  option.negate = false;
  return setting.kind.isList ? option.argParser(collect) : option;
}

/** Applies an option to the files of a preceding `--for`: its value is stored under a flag that names the glob. */
function applyFor(command: Command, setting: Setting, option: Option): Option {
  // Without a preset value, commander does not call the parser of a switch.
  if (setting.kind.unit === null) option.preset('true');
  return option.argParser((value: string, earlier: unknown) => {
    const { isList, unit } = setting.kind;
    const globs = command.getOptionValue(flagName(FOR.flag!)) as readonly string[] | undefined;
    const glob = globs?.at(-1);
    const typed = unit === null ? true : value;
    if (glob === undefined) return isList ? collect(value, earlier as readonly string[] | undefined) : typed;
    const { flag } = forGlob(glob, setting);
    if (!FILE_SETTINGS.includes(setting)) {
      throw usageError(flag!, `this flag does not say how files are read; give it before the first --for`);
    }
    const name = flagName(flag!);
    const before = command.getOptionValue(name) as readonly string[] | undefined;
    command.setOptionValue(name, isList ? collect(value, before) : typed);
    // If there is no value, commander would invent one.
    return earlier ?? false;
  });
}

/**
 * Limits the help of a command to some settings, each with a line that fits 80 columns; `--help all` lists every flag
 * in full.
 */
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

/** Formats the examples at the end of a command's help. */
export function examples(lines: readonly (readonly [command: string, does: string])[]): string {
  return `\nExamples:\n${lines.map(([command, does]) => `  # ${does}\n  $ ${command}\n`).join('')}`;
}
