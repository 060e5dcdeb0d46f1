import type { Command } from 'commander';
import { afterFinishOf, type AfterFinishFlags } from '../../config/after-finish.ts';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { fleetOf, type FleetFlags } from '../flags/fleet-flags.ts';
import {
  detachFlag,
  headFileFlag,
  insecureFleetFlag,
  jsonFlag,
  onFinishFlag,
  quietFlag,
  redisFlag,
  startWaitFlag,
  trustRunFlag,
} from '../flags/flags.ts';
import { examples, newCommand } from '../new-command.ts';
import { runDirectoryOf } from '../run/run-directory.ts';

interface Options extends FleetFlags, AfterFinishFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
  readonly trustRun?: boolean;
}

/** `retry <run dir>`: a new pass over the items that ended in a retryable error. */
export function retryCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('retry', context)
    .summary('judge again the items that ended in a retryable error')
    .description(
      'Judge again the items of a finished run that ended in a retryable error, as a new pass of the same run.\n' +
        'Everything else keeps its outcome.\n' +
        'GUARD_API_KEY and GUARD_TOKEN are sent only to guards that GUARD_URL names; a guard that only the run directory ' +
        'names gets GUARD_API_KEY__<HOST> or GUARD_TOKEN__<HOST>.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addOption(redisFlag())
    .addOption(insecureFleetFlag())
    .addOption(detachFlag())
    .addOption(trustRunFlag())
    .addOption(startWaitFlag())
    .addOption(headFileFlag())
    .addOption(onFinishFlag())
    .addOption(jsonFlag('print the summary as JSON instead of text'))
    .addOption(quietFlag())
    .addHelpText(
      'after',
      examples([
        ['guardsweep retry runs/20261121T020000Z-nightly-ab12', 'try the failed items of this run again'],
      ]),
    )
    .action(async (runDir: string, options: Options) => {
      const { json = false, quiet = false, trustRun = false, headFile, onFinish, ...fleet } = options;
      const afterFinish = await afterFinishOf({ headFile, onFinish }, context);
      const ui = { ...context, json, quiet, trustRun, afterFinish, ...(await fleetOf(fleet, context)) };
      report(await runs.retry(runDirectoryOf(runDir, context.cwd), ui));
    });
}
