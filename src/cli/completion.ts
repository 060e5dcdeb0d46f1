import type { Argument, Command } from 'commander';
import { SettingOption } from './new-command.ts';

/** What may stand in a place of a command line. */
interface Place {
  /** Words to choose from. */
  readonly words: readonly string[];
  /** Names of files or folders, besides the words; null: neither. */
  readonly paths: 'files' | 'folders' | null;
}

interface CompletedFlag {
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
    argument: argumentOf(command.registeredArguments, names),
  }));
}

function flagOf(option: unknown): CompletedFlag | null {
  if (!(option instanceof SettingOption) || option.setting.flag === null) return null;
  const { flag, help, kind } = option.setting;
  const value = kind.unit === null ? null : { unit: kind.unit, ...placeOf(kind.unit, kind.words ?? []) };
  return { flag, help: help.replaceAll('`', ''), isList: kind.isList, value };
}

/** Words are those of the first argument, paths those of the last. */
function argumentOf(
  [argument, ...more]: readonly Argument[],
  commands: readonly string[],
): CompletedCommand['argument'] {
  if (argument === undefined) return null;
  const unit = argument.name();
  if (unit === 'command') return { unit, words: commands, paths: null };
  const { words, paths } = placeOf(unit, argument.argChoices ?? []);
  return { unit, words, paths: more.length === 0 ? paths : placeOf(more.at(-1)!.name(), []).paths };
}

function placeOf(unit: string, words: readonly string[]): Place {
  if (unit === 'dir' || unit.startsWith('run-')) return { words, paths: 'folders' };
  if (unit === 'file|off') return { words: ['off'], paths: 'files' };
  return { words, paths: unit === 'file' || unit === 'path' ? 'files' : null };
}

/** Completes words that begin like the current one; a value may follow its flag after a space or after `=`. */
const LOOK_UP = `  case $paths in
    files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
    folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
  esac
  mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _guardsweep guardsweep
`;

/** A completion script for bash 4 and newer. */
export function bashCompletion(commands: readonly CompletedCommand[]): string {
  return `# bash completion for guardsweep, made by: guardsweep completion bash
_guardsweep() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} words='' paths=''
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=''
  elif [[ $before == = ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if ((COMP_CWORD == 1)); then
    words='${commands.map(({ name }) => name).join(' ')} --help --version'
  else
    case \${COMP_WORDS[1]} in
${commands.map(bashCase).join('')}    esac
  fi
${LOOK_UP}`;
}

function bashCase({ name, flags, argument }: CompletedCommand): string {
  const values = flags.flatMap(({ flag, value }) =>
    value === null ? [] : [`          ${flag}) ${assigned(value)} ;;\n`],
  );
  const all = flags.map(({ flag }) => flag).join(' ');
  const rest = argument === null ? ':' : assigned(argument);
  return `      ${name})
        case $before in
${values.join('')}          *) if [[ $current == -* ]]; then words='${all}'; else ${rest}; fi ;;
        esac
        ;;
`;
}

/** What may stand in a place, as assignments. */
function assigned({ words, paths }: Place): string {
  const parts = [
    ...(words.length > 0 ? [`words='${words.join(' ')}'`] : []),
    ...(paths === null ? [] : [`paths=${paths}`]),
  ];
  return parts.length > 0 ? parts.join(' ') : ':';
}

/** A completion script for fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c guardsweep -n __fish_use_subcommand -a ${command.name} -d ${fishQuoted(command.help)}`,
    ...command.flags.map((flag) => flagLine(command.name, flag)),
    ...(command.argument === null
      ? []
      : [`${onlyIn(command.name)}${fishCondition(command.argument, false)}`]),
  ]);
  return `# fish completion for guardsweep, made by: guardsweep completion fish
complete -c guardsweep -f
complete -c guardsweep -n __fish_use_subcommand -l help -d 'show the help'
complete -c guardsweep -n __fish_use_subcommand -l version -d 'show the version'
${lines.join('\n')}
`;
}

const onlyIn = (command: string): string =>
  `complete -c guardsweep -n '__fish_seen_subcommand_from ${command}'`;

function flagLine(command: string, { flag, help, value }: CompletedFlag): string {
  const taken = value === null ? '' : fishCondition(value, true);
  return `${onlyIn(command)} -l ${flag.slice(2)}${taken} -d ${fishQuoted(help)}`;
}

function fishCondition({ words, paths }: Place, isValue: boolean): string {
  const parts = [...words, ...(paths === 'folders' ? ['(__fish_complete_directories)'] : [])];
  const choices = parts.length > 0 ? ` -a ${fishQuoted(parts.join(' '))}` : '';
  if (paths === 'files') return `${isValue ? ' -r' : ''} -F${choices}`;
  return `${isValue ? ' -x' : ''}${choices}`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}

/** A completion script for zsh: a file `_guardsweep` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef guardsweep
# zsh completion for guardsweep, made by: guardsweep completion zsh
_guardsweep() {
  local -a commands
  commands=(
${commands.map(({ name, help }) => `    ${zshQuoted(`${name}:${help}`)}\n`).join('')}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${commands.map(zshCase).join('')}  esac
}
if [[ $funcstack[1] == _guardsweep ]]; then
  _guardsweep "$@"
else
  compdef _guardsweep guardsweep
fi
`;
}

function zshCase({ name, flags, argument }: CompletedCommand): string {
  const specs = flags.map(flagSpec);
  if (argument !== null) specs.push(zshQuoted(`*:${argument.unit}:${actionOf(argument)}`));
  return `    ${name})
      _arguments \\
${specs.map((spec) => `        ${spec}`).join(' \\\n')}
      ;;
`;
}

function flagSpec({ flag, help, isList, value }: CompletedFlag): string {
  const explained = `[${help.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  const repeatable = isList ? '*' : '';
  if (value === null) return zshQuoted(`${flag}${explained}`);
  return zshQuoted(`${repeatable}${flag}=${explained}:${value.unit}:${actionOf(value)}`);
}

function actionOf({ words, paths }: Place): string {
  if (words.length > 0 && paths !== null) return '_files';
  if (words.length > 0) return `(${words.join(' ')})`;
  if (paths === null) return ' ';
  return paths === 'files' ? '_files' : '_files -/';
}

function zshQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
