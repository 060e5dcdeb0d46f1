import { resolve } from 'node:path';
import type { Command } from 'commander';
import { afterFinishOf } from '../../config/after-finish.ts';
import type { CommandContext } from '../context.ts';
import {
  headFileFlag,
  insecureFleetFlag,
  metricsHostFlag,
  metricsOpenFlag,
  metricsPortFlag,
  redisFlag,
  repeatableFlag,
  startWaitFlag,
} from '../flags/flags.ts';
import { neededFleet, startWaitOf } from '../flags/fleet-flags.ts';
import { examples, newCommand } from '../new-command.ts';
import { metricsOf, type MetricsFlags } from '../flags/service-flags.ts';

interface SinkOptions extends MetricsFlags {
  readonly redis?: string;
  readonly insecureFleet?: boolean;
  readonly startWait?: string;
  readonly root?: readonly string[];
  readonly headFile?: string;
}

/** `sink`: commits what a fleet's workers return. */
export function sinkCommand(context: CommandContext): Command {
  return newCommand('sink', context)
    .summary("write a fleet's outcomes and finish its runs")
    .description(
      "Write the outcomes that a fleet's workers return to the run directories, and finish runs, until " +
        'interrupted. It needs the file system that the run directories are on. Of several sinks one holds a ' +
        'run at a time; the others wait, and take it over when that one is gone.',
    )
    .addOption(redisFlag('REDIS_URL; one has to be named'))
    .addOption(insecureFleetFlag())
    .addOption(
      repeatableFlag('--root <dir>', {
        what: 'folder that holds run directories; nothing outside is written',
        fallback: 'runs',
        example: '/data/runs',
      }),
    )
    .addOption(headFileFlag())
    .addOption(startWaitFlag())
    .addOption(metricsPortFlag())
    .addOption(metricsHostFlag())
    .addOption(metricsOpenFlag())
    .addHelpText(
      'after',
      examples([
        ['guardsweep sink --redis redis://queue-1:6379 --root /data/runs', 'for the runs in one folder'],
        ['guardsweep sink --metrics-port 9465', 'with REDIS_URL set, for the runs in ./runs'],
      ]),
    )
    .action(async (options: SinkOptions) => {
      const { cwd, interrupts } = context;
      const { sink } = await import('../../../workers/sink.ts');
      await sink(
        {
          ...(await neededFleet(options, context)),
          startWaitMs: startWaitOf(options.startWait),
          roots: (options.root ?? ['runs']).map((root) => resolve(cwd, root)),
          metrics: metricsOf(options, context.env),
          afterFinish: await afterFinishOf({ headFile: options.headFile }, context),
          say: (line) => context.stderr.line(`guardsweep: ${line}`),
        },
        interrupts,
      );
    });
}
