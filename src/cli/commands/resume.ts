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

/** `resume <run dir>`: finish an interrupted run. */
export function resumeCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('resume', context)
    .summary('finish an interrupted run')
    .description(
      'Finish an interrupted run with the configuration it was created with. What was judged is not judged again.\n' +
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
      examples([['guardsweep resume runs/20261121T020000Z-nightly-ab12', 'finish this run']]),
    )
    .action(async (runDir: string, options: Options) => {
      const { json = false, quiet = false, trustRun = false, headFile, onFinish, ...fleet } = options;
      const afterFinish = await afterFinishOf({ headFile, onFinish }, context);
      const ui = { ...context, json, quiet, trustRun, afterFinish, ...(await fleetOf(fleet, context)) };
      report(await runs.resume(runDirectoryOf(runDir, context.cwd), ui));
    });
}
