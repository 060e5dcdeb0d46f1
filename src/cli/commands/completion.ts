import { Argument, type Command } from 'commander';
import {
  bashCompletion,
  type CompletedCommand,
  completedCommands,
  fishCompletion,
  zshCompletion,
} from '../completion.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

const SHELLS: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

/** `completion <shell>`: a script with which a shell completes commands, flags and their values. */
export function completionCommand(context: CommandContext, program: Command): Command {
  return newCommand('completion', context)
    .summary('print a script with which your shell completes commands and flags')
    .description('Print a script with which your shell completes commands, flags, their values, and paths.')
    .addArgument(new Argument('<shell>', 'bash (4 or newer), zsh or fish').choices(Object.keys(SHELLS)))
    .addHelpText(
      'after',
      examples([
        ['guardsweep completion bash > ~/.local/share/bash-completion/completions/guardsweep', 'for bash'],
        ['guardsweep completion zsh > "${fpath[1]}/_guardsweep"', 'for zsh'],
        ['guardsweep completion fish > ~/.config/fish/completions/guardsweep.fish', 'for fish'],
      ]),
    )
    .action((shell: string) => {
      const script = SHELLS[shell]!(completedCommands(program));
      context.stdout.lines(script.trimEnd().split('\n'));
    });
}
