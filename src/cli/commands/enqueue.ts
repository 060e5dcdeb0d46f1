import type { Command } from 'commander';
import { resolveRunConfig, type Flags } from '../../config/resolve.ts';
import type { CommandContext, ReportStatus, RunCommands } from '../context.ts';
import { isJobFile } from '../../config/job-file/job-file.ts';
import { jobFileNotice } from '../run/job-file-notice.ts';
import { fleetOf, startWaitOf, type FleetFlags } from '../flags/fleet-flags.ts';
import {
  detachFlag,
  flag,
  guardFlag,
  headFileFlag,
  insecureFleetFlag,
  jsonFlag,
  onFinishFlag,
  outFlag,
  quietFlag,
  redisFlag,
  repeatableFlag,
  startWaitFlag,
} from '../flags/flags.ts';
import { examples, newCommand } from '../new-command.ts';
import { tell } from '../run/run-report.ts';

interface EnqueueOptions extends Flags, FleetFlags {
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `enqueue <path… or job.yaml>`: create a run and bring it to its end. */
export function enqueueCommand(context: CommandContext, runs: RunCommands, report: ReportStatus): Command {
  return newCommand('enqueue', context)
    .summary('moderate files, folders and globs, and leave an audit record')
    .description(
      'Moderate files, folders and globs, or what a job file names, and leave an audit record.\n' +
        'The last line on stdout is the run directory. Flags win over the job file, which wins over the environment.',
    )
    .argument('<path...>', 'files, folders, globs; or one job file (.yaml, .yml)')
    .addOption(outFlag())
    .addOption(guardFlag())
    .addOption(
      flag('--policy <file>', {
        what: 'thresholds that turn scores into allow, review and block',
        fallback: 'none: what the guard flags is blocked',
        example: 'jobs/policies/default.yaml',
      }),
    )
    .addOption(
      flag('--format <list>', {
        what: 'final files besides verdicts.jsonl, separated by commas: jsonl, csv',
        fallback: 'jsonl,csv',
        example: 'jsonl',
      }),
    )
    .addOption(
      repeatableFlag('--text-column <name>', {
        what: 'column to judge in tables and records, of a folder where it fits',
        fallback: 'recognised by name',
        example: 'body',
      }),
    )
    .addOption(
      flag('--id-column <name>', {
        what: 'column that holds the id',
        fallback: 'id, uuid or custom_id, else the row',
        example: 'comment_id',
      }),
    )
    .addOption(
      flag('--encoding <label>', {
        what: 'encoding of the sources, of a folder where it fits, a WHATWG label',
        fallback: 'UTF-8, or UTF-16 or UTF-32 by its byte order mark',
        example: 'windows-1252',
      }),
    )
    .addOption(
      flag('--layout <layout>', {
        what: 'read all sources as csv, jsonl, json or text',
        fallback: 'recognised by content',
        example: 'csv',
      }),
    )
    .addOption(
      flag('--header <yes|no>', {
        what: 'whether the first row of tables names their columns; without names, columns go by position: 1, 2',
        fallback: 'told from the rows',
        example: 'no',
      }),
    )
    .addOption(
      flag('--audit <mode>', {
        what: 'judge a conversation once as a whole (final) or at every turn (every-turn)',
        fallback: 'final',
        example: 'every-turn',
      }),
    )
    .addOption(
      flag('--frames <count>', {
        what: 'most frames or pages of one image that are judged, evenly spaced, 1 to 64',
        fallback: '8',
        example: '16',
      }),
    )
    .addOption(
      flag('--long-audio <mode>', {
        what: 'judge clips over 300 s whole, in windows (windows), or their first 300 s only (truncate)',
        fallback: 'windows',
        example: 'truncate',
      }),
    )
    .addOption(
      flag('--long-text <mode>', {
        what: "judge texts beyond the guard's context in windows (windows), or end them as errors (error)",
        fallback: 'windows',
        example: 'error',
      }),
    )
    .addOption(
      flag('--name <name>', {
        what: 'name of the run: lower-case letters, digits, hyphens',
        fallback: 'after the first path',
        example: 'nightly-rescan',
      }),
    )
    .addOption(
      flag('--expect-fingerprint <id>', {
        what: 'stop with status 4 unless every guard has this fingerprint id',
        fallback: 'any',
        example: 'sha256:9f86d0… (64 digits)',
      }),
    )
    .addOption(
      flag('--max-wait <duration>', {
        what: 'how long to wait while no guard is ready (with Redis: nothing is judged), in s, m or h, before stopping with status 4',
        fallback: '10m; 2h with Redis',
        example: '2h',
      }),
    )
    .addOption(
      repeatableFlag('--fail-if <gate=rate>', {
        what: 'status 3 when flagged-rate or error-rate is above a share of 0 to 1',
        fallback: 'no gate',
        example: 'flagged-rate=0.01',
      }),
    )
    .addOption(
      flag('--allow-errors', {
        what: 'status 0 although some items were not judged',
        fallback: 'status 5',
      }),
    )
    .addOption(
      flag('--allow-empty', {
        what: 'status 0 although the sources hold no item',
        fallback: 'status 5',
      }),
    )
    .addOption(redisFlag())
    .addOption(insecureFleetFlag())
    .addOption(detachFlag())
    .addOption(headFileFlag())
    .addOption(onFinishFlag())
    .addOption(startWaitFlag('--max-wait or maxWait of the job file where given, else 30s'))
    .addOption(jsonFlag('print the summary as JSON instead of text'))
    .addOption(quietFlag())
    .addHelpText(
      'after',
      examples([
        ['guardsweep enqueue ./uploads', 'moderate a folder with the embedded demonstration guard'],
        [
          'guardsweep enqueue comments.csv --text-column body --guard grpc://gpu-1:8001',
          'one column of a table, on a real guard',
        ],
        [
          'guardsweep enqueue train.jsonl --guard grpc://gpu-1:8001 --fail-if flagged-rate=0.01',
          'a gate in a pipeline',
        ],
        ['guardsweep enqueue jobs/nightly-rescan.yaml', 'what a job file says'],
        [
          'guardsweep enqueue ./uploads --redis redis://queue-1:6379 --detach',
          'by the fleet, in the background',
        ],
      ]),
    )
    .action(async (paths: string[], options: EnqueueOptions) => {
      const { json = false, quiet = false, redis, insecureFleet, detach, startWait, ...flags } = options;
      const { env, cwd } = context;
      const access = await fleetOf({ redis, insecureFleet, detach, startWait }, context);
      const input = { paths, flags, env, cwd, fleet: access.fleet !== null };
      const { config, givenMaxWaitMs, afterFinish } = await resolveRunConfig(input);
      const startWaitMs = startWaitOf(startWait, givenMaxWaitMs);
      const ui = { ...context, json, quiet, ...access, startWaitMs, afterFinish };
      // A job file stands alone among the arguments.
      if (isJobFile(paths[0]!)) tell(ui, jobFileNotice(paths[0]!, config, afterFinish));
      report(await runs.enqueue(config, ui));
    });
}
