import type { CompletedCommand, Place } from './command-tree.ts';

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
${commands.map(caseOf).join('')}    esac
  fi
${LOOK_UP}`;
}

function caseOf({ name, flags, argument }: CompletedCommand): string {
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
