import type { Command } from 'commander';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, valueOf } from '../../config/settings/given.ts';
import type { CommandContext, ReportStatus, LoadRuns } from '../context.ts';
import { CONTINUE_SETTINGS, resolveContinueUi } from '../flags/fleet-access.ts';
import { examples, newCommand } from '../new-command.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

interface ContinueCommand {
  readonly name: 'resume' | 'retry';
  readonly summary: string;
  readonly description: string;
  readonly example: string;
}

/** `resume <run dir>`: finish an interrupted run. */
export function resumeCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  const command: ContinueCommand = {
    name: 'resume',
    summary: 'finish an interrupted run',
    description:
      'Finish an interrupted run with the configuration it was created with. What was judged is not judged again.',
    example: 'finish this run',
  };
  return continueCommand(command, context, loadRuns, report);
}

/** `retry <run dir>`: judge the items that ended in a retryable error again, as a new pass. */
export function retryCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  const command: ContinueCommand = {
    name: 'retry',
    summary: 'retry items that failed with a temporary error',
    description:
      'Retry the items of a finished run that failed with a temporary error, as a new pass of the same run.\n' +
      'All other items keep their outcomes.',
    example: 'retry the failed items of this run',
  };
  return continueCommand(command, context, loadRuns, report);
}

function continueCommand(
  { name, summary, description, example }: ContinueCommand,
  context: CommandContext,
  loadRuns: LoadRuns,
  report: ReportStatus,
): Command {
  return newCommand(name, context, { ...CONTINUE_SETTINGS, out: RUNS_FOLDER })
    .summary(summary)
    .description(
      `${description}\n` +
        'GUARD_API_KEY and GUARD_TOKEN are sent only to guards that GUARD_URL names; a guard that only the run directory ' +
        'names gets GUARD_API_KEY__<HOST> or GUARD_TOKEN__<HOST>.',
    )
    .argument(
      '<run-dir>',
      'run directory, as enqueue printed it; or in --out the name of a run, its beginning, or latest',
    )
    .addHelpText('after', examples([[`guardsweep ${name} runs/20261121T020000Z-nightly-ab12`, example]]))
    .action(async (runDir: string, flags: Flags) => {
      const ui = await resolveContinueUi(flags, context);
      const runs = await loadRuns();
      const out = await valueOf(RUNS_FOLDER, { flags, ...context });
      report(await runs[name](resolveRunDirectory(runDir, context.cwd, out), ui));
    });
}
