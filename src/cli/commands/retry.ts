import type { Command } from 'commander';
import type { Flags } from '../../config/settings/given.ts';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { CONTINUE_SETTINGS, continueUiOf } from '../flags/continue-ui.ts';
import { examples, newCommand } from '../new-command.ts';
import { runDirectoryOf } from '../run/run-directory.ts';

/** `retry <run dir>`: a new pass over the items that ended in a retryable error. */
export function retryCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('retry', context, CONTINUE_SETTINGS)
    .summary('judge again the items that ended in a retryable error')
    .description(
      'Judge again the items of a finished run that ended in a retryable error, as a new pass of the same run.\n' +
        'Everything else keeps its outcome.\n' +
        'GUARD_API_KEY and GUARD_TOKEN are sent only to guards that GUARD_URL names; a guard that only the run directory ' +
        'names gets GUARD_API_KEY__<HOST> or GUARD_TOKEN__<HOST>.',
    )
    .argument('<run-dir>', 'run directory, as enqueue printed it, or the name of a run in ./runs')
    .addHelpText(
      'after',
      examples([
        ['guardsweep retry runs/20261121T020000Z-nightly-ab12', 'try the failed items of this run again'],
      ]),
    )
    .action(async (runDir: string, flags: Flags) => {
      const ui = await continueUiOf(flags, context);
      report(await runs.retry(runDirectoryOf(runDir, context.cwd), ui));
    });
}
