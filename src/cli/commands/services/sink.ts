import type { Command } from 'commander';
import { resolveAfterFinish } from '../../../config/after-finish.ts';
import { HEAD_FILE } from '../../../config/settings/entries/after-run.ts';
import { FLEET_REDIS, START_WAIT } from '../../../config/settings/entries/fleet.ts';
import { RUNS_ROOT } from '../../../config/settings/entries/output.ts';
import { type Flags, valueOf } from '../../../config/settings/given.ts';
import { runKeyFile } from '../../../runs/trust/run-key.ts';
import type { CommandContext } from '../../context.ts';
import { requireFleet } from '../../flags/fleet-access.ts';
import { SERVICE_SETTINGS, resolveMetricsPlace } from '../../flags/server-access.ts';
import { examples, newCommand } from '../../new-command.ts';

const SETTINGS = {
  redis: FLEET_REDIS,
  root: RUNS_ROOT,
  headFile: HEAD_FILE,
  startWait: START_WAIT,
  ...SERVICE_SETTINGS,
};

/** `sink`: commit the results of a fleet's workers. */
export function sinkCommand(context: CommandContext): Command {
  return newCommand('sink', context, SETTINGS)
    .summary("write a fleet's outcomes and finish its runs")
    .description(
      "Write the outcomes that a fleet's workers return to the run directories, and finish runs, until " +
        'interrupted. It needs the file system that the run directories are on. If there are several sinks, one holds a ' +
        'run at a time; the others take it over when that one is gone.',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep sink --redis redis://queue-1:6379 --root /data/runs', 'for the runs in one folder'],
        ['guardsweep sink --metrics-port 9465', 'with REDIS_URL set, for the runs in ./runs'],
      ]),
    )
    .action(async (flags: Flags) => {
      const from = { flags, ...context };
      const { sink } = await import('../../../../workers/sink.ts');
      await sink(
        {
          ...(await requireFleet(flags, context)),
          startWaitMs: await valueOf(START_WAIT, from),
          roots: await valueOf(RUNS_ROOT, from),
          keyFile: runKeyFile(context.env),
          metrics: await resolveMetricsPlace(flags, context),
          afterFinish: await resolveAfterFinish(from),
          say: context.stderr.say,
        },
        context.interrupts,
      );
    });
}
