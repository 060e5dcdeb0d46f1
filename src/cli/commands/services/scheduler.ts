import type { Command } from 'commander';
import { JSON_OUTPUT, QUIET } from '../../../config/settings/entries/commands.ts';
import { FLEET_REDIS, REDIS, START_WAIT } from '../../../config/settings/entries/fleet.ts';
import { type Flags, resolveSettings, valueOf } from '../../../config/settings/given.ts';
import { resolve } from 'node:path';
import { suggestion } from '../../../config/usage-error.ts';
import { Failure } from '../../../domain/failure.ts';
import { formatDuration } from '../../../domain/start-notice.ts';
import { quoteName } from '../../../domain/text/escape-text.ts';
import type { ScheduledJob } from '../../../fleet/scheduler/job-folder.ts';
import type { ScheduleView } from '../../../fleet/scheduler/view-schedule.ts';
import type { CommandContext, FeedUi, LoadRuns, ReportStatus, RunUi } from '../../context.ts';
import { requireFleet, resolveFleet } from '../../flags/fleet-access.ts';
import { SERVICE_SETTINGS, resolveMetricsPlace } from '../../flags/server-access.ts';
import { examples, newCommand } from '../../new-command.ts';

const JOBS_FOLDER = 'jobs';
const FOLDER_HELP = 'folder of job files; files without a schedule are ignored';

/** `scheduler <folder>`: starts runs when they are due. */
export function schedulerCommand(context: CommandContext, loadRuns: LoadRuns): Command {
  return newCommand('scheduler', context, { redis: FLEET_REDIS, startWait: START_WAIT, ...SERVICE_SETTINGS })
    .summary('start the runs of job files when they are due')
    .description(
      'Start the runs of the job files in a folder on a fleet when their schedules say so, until interrupted. ' +
        'Changes of the folder take effect within seconds. A run that a scheduler left unfinished is resumed by the next.',
    )
    .argument('<folder>', FOLDER_HELP)
    .addHelpText(
      'after',
      examples([
        ['guardsweep scheduler jobs --redis redis://queue-1:6379', 'the job files in ./jobs'],
        ['guardsweep schedule list jobs', 'what is due, and how the last runs ended'],
      ]),
    )
    .action(async (folder: string, flags: Flags) => {
      const fleet = await requireFleet(flags, context);
      const [{ scheduler }, runs] = await Promise.all([
        import('../../../../workers/scheduler.ts'),
        loadRuns(),
      ]);
      const ui = (job: ScheduledJob): FeedUi => feedUi(job, { ...context, fleet, json: false, quiet: true });
      await scheduler(
        {
          redis: fleet.redis,
          startWaitMs: await valueOf(START_WAIT, { flags, ...context }),
          folder: resolve(context.cwd, folder),
          cwd: context.cwd,
          env: context.env,
          start: (job, runId) => runs.enqueue(job.resolved.config, ui(job), runId),
          resume: (job, dir) => runs.resume(dir, { ...ui(job), trustRun: false }),
          metrics: await resolveMetricsPlace(flags, context),
          say: context.stderr.say,
        },
        context.interrupts,
      );
    });
}

function feedUi({ path, resolved }: ScheduledJob, ui: RunUi & Pick<FeedUi, 'fleet'>): FeedUi {
  const { guardTls, startWaitMs, afterFinish } = resolved;
  return { ...ui, typed: [path], guardTls, startWaitMs, afterFinish };
}

/** `schedule list` and `schedule run`. */
export function scheduleCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  return newCommand('schedule', context)
    .summary('list schedules, or start the run of one now')
    .description('Look at the schedules of the job files in a folder, or start the run of one now.')
    .addCommand(listCommand(context))
    .addCommand(runCommand(context, loadRuns, report))
    .addHelpText(
      'after',
      examples([
        ['guardsweep schedule list jobs', 'what is due, and how the last runs ended'],
        ['guardsweep schedule run nightly-rescan jobs', 'start the run of one now'],
      ]),
    );
}

function listCommand(context: CommandContext): Command {
  return newCommand('list', context, { redis: REDIS, json: JSON_OUTPUT })
    .summary('when schedules are due, and how their last runs ended')
    .description('List the schedules of the job files in a folder. Changes nothing, and needs no scheduler.')
    .argument('[folder]', FOLDER_HELP, JOBS_FOLDER)
    .action(async (folder: string, flags: Flags) => {
      const { redis, json } = await resolveSettings(
        { redis: REDIS, json: JSON_OUTPUT },
        { flags, ...context },
      );
      const { viewSchedule } = await import('../../../fleet/scheduler/view-schedule.ts');
      const jobs = await readJobs(folder, redis !== null, context);
      const { drain } = context.interrupts;
      const views: ScheduleView[] = [];
      for (const job of jobs.values()) views.push(await viewSchedule(job, new Date(), drain));
      if (json) context.stdout.json(views);
      else context.stdout.lines(views.flatMap(linesOf));
    });
}

function runCommand(context: CommandContext, loadRuns: LoadRuns, report: ReportStatus): Command {
  return newCommand('run', context, { redis: REDIS, json: JSON_OUTPUT, quiet: QUIET })
    .summary('start the run of a schedule now')
    .description(
      'Start the run of a schedule now and take it to its end, as enqueue does with the job file. Refused while a run of ' +
        'the schedule goes on. While it goes on, times that come due are skipped.',
    )
    .argument('<name>', 'name of the schedule, as schedule list shows it')
    .argument('[folder]', FOLDER_HELP, JOBS_FOLDER)
    .action(async (name: string, folder: string, flags: Flags) => {
      const fleet = await resolveFleet(flags, context);
      const output = await resolveSettings({ json: JSON_OUTPUT, quiet: QUIET }, { flags, ...context });
      const jobs = await readJobs(folder, fleet !== null, context);
      const job = jobs.get(name);
      if (job === undefined) {
        throw new Failure(
          'usage',
          `there is no schedule ${quoteName(name)}${suggestion(name, [...jobs.keys()])}`,
        );
      }
      const { fedRun } = await import('../../../fleet/scheduler/schedule-record.ts');
      const fed = await fedRun(job);
      if (fed !== null) throw new Failure('usage', `a run of the schedule goes on: ${fed}`);
      report(
        await (await loadRuns()).enqueue(job.resolved.config, feedUi(job, { ...context, ...output, fleet })),
      );
    });
}

async function readJobs(
  folder: string,
  fleet: boolean,
  { cwd, env }: CommandContext,
): Promise<Map<string, ScheduledJob>> {
  const { readJobFolder } = await import('../../../fleet/scheduler/job-folder.ts');
  return readJobFolder(resolve(cwd, folder), { cwd, env, fleet }, (_, mistake) => {
    throw mistake;
  });
}

function linesOf({ name, cron, timezone, keep_ms, next, last, skipped, skips }: ScheduleView): string[] {
  const kept = keep_ms === null ? '' : `, runs kept for ${formatDuration(keep_ms)}`;
  const lines = [`${name}: ${cron} (${timezone}), next ${next}${kept}`];
  if (last === null) lines.push('  no run yet');
  else {
    const { run, due, state, status, message } = last;
    const end = status === null ? state : `${state} with status ${status}`;
    const why = message === null ? '' : `: ${message}`;
    lines.push(`  last ${due ?? 'by hand'}: ${end}${why} (${run})`);
  }
  const latest = skips.at(-1);
  if (latest !== undefined) lines.push(`  ${skipped} skipped, the last ${latest.due} (${latest.reason})`);
  return lines;
}
