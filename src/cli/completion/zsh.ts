import type { CompletedCommand, CompletedFlag, Place } from './command-tree.ts';

/** A completion script for zsh: a file `_guardsweep` in a folder of `$fpath`. */
export function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `#compdef guardsweep
# zsh completion for guardsweep, made by: guardsweep completion zsh
_guardsweep() {
  local -a commands
  commands=(
${commands.map(({ name, help }) => `    ${quoted(`${name}:${help}`)}\n`).join('')}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  shift words
  ((CURRENT--))
  case $words[1] in
${commands.map(caseOf).join('')}  esac
}
if [[ $funcstack[1] == _guardsweep ]]; then
  _guardsweep "$@"
else
  compdef _guardsweep guardsweep
fi
`;
}

function caseOf({ name, flags, argument }: CompletedCommand): string {
  const specs = flags.map(flagSpec);
  if (argument !== null) specs.push(quoted(`*:${argument.unit}:${actionOf(argument)}`));
  return `    ${name})
      _arguments \\
${specs.map((spec) => `        ${spec}`).join(' \\\n')}
      ;;
`;
}

function flagSpec({ flag, help, isList, value }: CompletedFlag): string {
  const explained = `[${help.replaceAll(/[[\]:\\]/g, '\\$&')}]`;
  const repeatable = isList ? '*' : '';
  if (value === null) return quoted(`${flag}${explained}`);
  return quoted(`${repeatable}${flag}=${explained}:${value.unit}:${actionOf(value)}`);
}

function actionOf({ words, paths }: Place): string {
  if (words.length > 0 && paths !== null) return '_files';
  if (words.length > 0) return `(${words.join(' ')})`;
  if (paths === null) return ' ';
  return paths === 'files' ? '_files' : '_files -/';
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
