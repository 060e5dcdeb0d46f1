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

/** `retry <run dir>`: a new pass over the items that ended in a retryable error. */
export function retryCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('retry', context)
    .summary('judge again the items that ended in a retryable error')
    .description(
      'Judge again the items of a finished run that ended in a retryable error, as a new pass of the same run.\n' +
        'Everything else keeps its outcome.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addOption(redisFlag())
    .addOption(detachFlag())
    .addOption(startWaitFlag())
    .addOption(jsonFlag('print the summary as JSON instead of text'))
    .addOption(quietFlag())
    .addHelpText(
      'after',
      examples([
        ['guardsweep retry runs/20261121T020000Z-nightly-ab12', 'try the failed items of this run again'],
      ]),
    )
    .action(async (runDir: string, options: Options) => {
      const { json = false, quiet = false, redis, detach, startWait } = options;
      const ui = { ...context, json, quiet, ...fleetOf({ redis, detach, startWait }, context.env) };
      report(await runs.retry(runDirectoryOf(runDir, context.cwd), ui));
    });
}
