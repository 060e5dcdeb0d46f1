import type { Command } from 'commander';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { fleetOf, type FleetFlags } from '../fleet-flags.ts';
import { detachFlag, jsonFlag, quietFlag, redisFlag, startWaitFlag } from '../flags.ts';
import { examples, newCommand } from '../new-command.ts';
import { runDirectoryOf } from '../run-directory.ts';

interface Options extends FleetFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `resume <run dir>`: finish an interrupted run. */
export function resumeCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('resume', context)
    .summary('finish an interrupted run')
    .description(
      'Finish an interrupted run with the configuration it was created with. What was judged is not judged again.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addOption(redisFlag())
    .addOption(detachFlag())
    .addOption(startWaitFlag())
    .addOption(jsonFlag('print the summary as JSON instead of text'))
    .addOption(quietFlag())
    .addHelpText(
      'after',
      examples([['guardsweep resume runs/20261121T020000Z-nightly-ab12', 'finish this run']]),
    )
    .action(async (runDir: string, options: Options) => {
      const { json = false, quiet = false, redis, detach, startWait } = options;
      const ui = { ...context, json, quiet, ...fleetOf({ redis, detach, startWait }, context.env) };
      report(await runs.resume(runDirectoryOf(runDir, context.cwd), ui));
    });
}
