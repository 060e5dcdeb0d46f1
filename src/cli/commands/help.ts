import type { Command } from 'commander';
import { suggestion } from '../../config/usage-error.ts';
import { Failure } from '../../domain/failure.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';

/** `help [command]`: the help of one command or of all commands. */
export function helpCommand(context: CommandContext, program: Command): Command {
  return newCommand('help', context)
    .summary('show the help of a command')
    .description('Show the help of a command; without one, list the commands.')
    .argument('[command]', 'name of a command')
    .argument('[all]', 'every flag, where the help is short without it')
    .addHelpText('after', examples([['guardsweep help enqueue all', 'all flags of a command']]))
    .action((name: string | undefined) => {
      if (name === undefined) return program.outputHelp();
      const found = program.commands.find((command) => command.name() === name);
      if (found === undefined) {
        const names = program.commands.map((command) => command.name());
        throw new Failure('usage', `there is no command ${quoteName(name)}${suggestion(name, names)}`);
      }
      return found.outputHelp();
    });
}
