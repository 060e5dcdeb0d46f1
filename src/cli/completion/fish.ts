import type { CompletedCommand, CompletedFlag, Place } from './command-tree.ts';

/** A completion script for fish. */
export function fishCompletion(commands: readonly CompletedCommand[]): string {
  const lines = commands.flatMap((command) => [
    `complete -c guardsweep -n __fish_use_subcommand -a ${command.name} -d ${quoted(command.help)}`,
    ...command.flags.map((flag) => flagLine(command.name, flag)),
    ...(command.argument === null ? [] : [`${onlyIn(command.name)}${placeOf(command.argument, false)}`]),
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
  const taken = value === null ? '' : placeOf(value, true);
  return `${onlyIn(command)} -l ${flag.slice(2)}${taken} -d ${quoted(help)}`;
}

function placeOf({ words, paths }: Place, isValue: boolean): string {
  const parts = [...words, ...(paths === 'folders' ? ['(__fish_complete_directories)'] : [])];
  const choices = parts.length > 0 ? ` -a ${quoted(parts.join(' '))}` : '';
  if (paths === 'files') return `${isValue ? ' -r' : ''} -F${choices}`;
  return `${isValue ? ' -x' : ''}${choices}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, '\\$&')}'`;
}
