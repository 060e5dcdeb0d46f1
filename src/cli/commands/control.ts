import type { Command } from 'commander';
import { QUIET } from '../../config/settings/entries/commands.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, valueOf } from '../../config/settings/given.ts';
import { CANCELLED, clearMarker, setMarker } from '../../runs/control/control-files.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

interface ControlCommand {
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly example: string;
  /** Performs the request; returns the notice to print. */
  readonly ask: (runDir: string) => Promise<string>;
}

/** `pause <run>`: pause a run. */
export function pauseCommand(context: CommandContext): Command {
  return controlCommand(context, {
    name: 'pause',
    summary: 'pause a run until it is continued',
    description:
      'Pause a run until it is continued: no new work starts. What workers already have ' +
      'is judged and kept. Works on any machine that can access the run directory.',
    example: 'free the guards for another run',
    ask: async (runDir) => {
      await setMarker(runDir, 'paused');
      return 'paused; to continue: guardsweep continue';
    },
  });
}

/** `continue <run>`: continue a paused run. */
export function continueCommand(context: CommandContext): Command {
  return controlCommand(context, {
    name: 'continue',
    summary: 'continue a paused run',
    description:
      'Continue a paused run. Works on any machine that can access the run directory.\n' +
      'If status says stopped, use guardsweep resume instead.',
    example: 'continue this run',
    ask: async (runDir) => {
      await clearMarker(runDir, 'paused');
      return 'no longer paused; if status says stopped: guardsweep resume';
    },
  });
}

/** `cancel <run>`: end a run before it is finished. */
export function cancelCommand(context: CommandContext): Command {
  return controlCommand(context, {
    name: 'cancel',
    summary: 'end a run before it is finished',
    description:
      'End a run before it is finished: the command that feeds it stops with status 130. What was judged ' +
      'is kept, and guardsweep resume continues the run. Works on any machine that can access the run ' +
      'directory.',
    example: 'this was the wrong folder',
    ask: async (runDir) => {
      await setMarker(runDir, 'cancelled');
      return CANCELLED;
    },
  });
}

function controlCommand(
  context: CommandContext,
  { name, summary, description, example, ask }: ControlCommand,
): Command {
  return newCommand(name, context, { out: RUNS_FOLDER, quiet: QUIET })
    .summary(summary)
    .description(description)
    .argument(
      '<run-dir>',
      'run directory, as enqueue printed it; or in --out the name of a run, its beginning, or latest',
    )
    .addHelpText('after', examples([[`guardsweep ${name} runs/20261121T020000Z-nightly-ab12`, example]]))
    .action(async (runDir: string, flags: Flags) => {
      const out = await valueOf(RUNS_FOLDER, { flags, ...context });
      const dir = resolveRunDirectory(runDir, context.cwd, out);
      const { readRunState } = await import('../../fleet/status/run-status.ts');
      const { assertOwnRun } = await import('../../runs/trust/own-run.ts');
      const state = await readRunState(dir, context.interrupts.drain);
      await assertOwnRun(dir);
      const said = state === 'finished' ? 'the run is finished: nothing to do' : await ask(dir);
      if (!(await valueOf(QUIET, { flags, ...context }))) context.stderr.say(said);
    });
}
