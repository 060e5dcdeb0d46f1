import type { Argument, Command } from 'commander';
import { SettingOption } from '../new-command.ts';

/** What may stand in a place of a command line. */
export interface Place {
  /** Words to choose from. */
  readonly words: readonly string[];
  /** Names of files or folders, besides the words; null: neither. */
  readonly paths: 'files' | 'folders' | null;
}

export interface CompletedFlag {
  /** `--out`. */
  readonly flag: string;
  readonly help: string;
  readonly isList: boolean;
  /** Null for a switch. */
  readonly value: (Place & { readonly unit: string }) | null;
}

export interface CompletedCommand {
  readonly name: string;
  readonly help: string;
  readonly flags: readonly CompletedFlag[];
  /** What its arguments are; null: it takes none. */
  readonly argument: (Place & { readonly unit: string }) | null;
}

const HELP_FLAG: CompletedFlag = { flag: '--help', help: 'show this help', isList: false, value: null };

/** All commands of the program, with their flags and the values that these take. */
export function completedCommands(program: Command): CompletedCommand[] {
  const names = program.commands.map((command) => command.name());
  return program.commands.map((command) => ({
    name: command.name(),
    help: command.summary(),
    flags: [...command.options.flatMap((option) => flagOf(option) ?? []), HELP_FLAG],
    argument: argumentOf(command.registeredArguments[0], names),
  }));
}

function flagOf(option: unknown): CompletedFlag | null {
  if (!(option instanceof SettingOption) || option.setting.flag === null) return null;
  const { flag, help, kind } = option.setting;
  const value = kind.unit === null ? null : { unit: kind.unit, ...placeOf(kind.unit, kind.words ?? []) };
  return { flag, help: help.replaceAll('`', ''), isList: kind.isList, value };
}

function argumentOf(
  argument: Argument | undefined,
  commands: readonly string[],
): CompletedCommand['argument'] {
  if (argument === undefined) return null;
  const unit = argument.name();
  if (unit === 'command') return { unit, words: commands, paths: null };
  return { unit, ...placeOf(unit, argument.argChoices ?? []) };
}

function placeOf(unit: string, words: readonly string[]): Place {
  if (unit === 'dir' || unit.startsWith('run-')) return { words, paths: 'folders' };
  if (unit === 'file|off') return { words: ['off'], paths: 'files' };
  return { words, paths: unit === 'file' || unit === 'path' ? 'files' : null };
}
