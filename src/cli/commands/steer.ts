import { resolve } from 'node:path';
import { type Command } from 'commander';
import { clearMarker, setMarker } from '../../runs/control/control-files.ts';
import { readRunState } from '../../runs/status/run-status.ts';
import { type CommandContext } from '../context.ts';
import { quietFlag } from '../flags.ts';
import { examples, newCommand } from '../new-command.ts';

interface Steering {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly example: string;
  /** Asks for it; gives what is to be said. */
  readonly ask: (runDir: string) => Promise<string>;
}

/** `pause <run>`: feed a run no further. */
export function pauseCommand(context: CommandContext): Command {
  return steerCommand(context, {
    name: 'pause',
    summary: 'feed a run no further until it is continued',
    description:
      'Feed a run no further until it is continued. What is handed out already is judged and committed.\n' +
      'Works wherever the run directory is seen, through a file in it.',
    example: 'free the guards for another run',
    ask: async (runDir) => {
      await setMarker(runDir, 'paused');
      return 'paused; to go on: guardsweep continue';
    },
  });
}

/** `continue <run>`: go on with a run that was paused. */
export function continueCommand(context: CommandContext): Command {
  return steerCommand(context, {
    name: 'continue',
    summary: 'go on with a run that was paused',
    description: 'Go on with a run that was paused. A run without a feeder needs guardsweep resume instead.',
    example: 'go on with this run',
    ask: async (runDir) => {
      await clearMarker(runDir, 'paused');
      return 'not paused any more';
    },
  });
}

/** `cancel <run>`: end a run before it is finished. */
export function cancelCommand(context: CommandContext): Command {
  return steerCommand(context, {
    name: 'cancel',
    summary: 'end a run before it is finished',
    description:
      'End a run before it is finished: its feeder stops with status 130. What was judged is kept, and\n' +
      'guardsweep resume takes the run up again.',
    example: 'this was the wrong folder',
    ask: async (runDir) => {
      await setMarker(runDir, 'cancelled');
      return 'cancelled; to take it up again: guardsweep resume';
    },
  });
}

function steerCommand(
  context: CommandContext,
  { name, summary, description, example, ask }: Steering,
): Command {
  return newCommand(name, context)
    .summary(summary)
    .description(description)
    .argument('<run-dir>', 'run directory, as enqueue printed it')
    .addOption(quietFlag())
    .addHelpText('after', examples([[`guardsweep ${name} runs/20261121T020000Z-nightly-ab12`, example]]))
    .action(async (runDir: string, options: { readonly quiet?: boolean }) => {
      const dir = resolve(context.cwd, runDir);
      const state = await readRunState(dir);
      const said = state === 'finished' ? 'the run is finished: nothing to do' : await ask(dir);
      if (options.quiet !== true) context.stderr.write(`guardsweep: ${said}\n`);
    });
}
