import type { Command } from 'commander';
import type { Flags } from '../../config/settings/given.ts';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { CONTINUE_SETTINGS, continueUiOf } from '../flags/continue-ui.ts';
import { examples, newCommand } from '../new-command.ts';
import { runDirectoryOf } from '../run/run-directory.ts';

/** `resume <run dir>`: finish an interrupted run. */
export function resumeCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('resume', context, CONTINUE_SETTINGS)
    .summary('finish an interrupted run')
    .description(
      'Finish an interrupted run with the configuration it was created with. What was judged is not judged again.\n' +
        'GUARD_API_KEY and GUARD_TOKEN are sent only to guards that GUARD_URL names; a guard that only the run directory ' +
        'names gets GUARD_API_KEY__<HOST> or GUARD_TOKEN__<HOST>.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addHelpText(
      'after',
      examples([['guardsweep resume runs/20261121T020000Z-nightly-ab12', 'finish this run']]),
    )
    .action(async (runDir: string, flags: Flags) => {
      const ui = await continueUiOf(flags, context);
      report(await runs.resume(runDirectoryOf(runDir, context.cwd), ui));
    });
}
