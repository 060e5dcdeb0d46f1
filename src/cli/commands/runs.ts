import { basename, dirname } from 'node:path';
import type { Command } from 'commander';
import { JSON_OUTPUT } from '../../config/settings/entries/commands.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { DRY_RUN, HOLD_REASON, OLDER_THAN, RELEASE } from '../../config/settings/entries/retention.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { escapeText, quoteName } from '../../domain/text/escape-text.ts';
import { plural } from '../../domain/text/plural.ts';
import type { PurgeResult } from '../../runs/retention/purge-runs.ts';
import type { CommandContext, ReportStatus } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';
import { listLines, showLines } from '../run/run-lines.ts';
import { mebibytes } from '../run/table.ts';

const RUN = 'run directory; or in --out the name of a run, its beginning, or latest';

/** `runs list`, `show`, `hold`, `purge`: manage the runs of a folder and how long they are kept. */
export function runsCommand(context: CommandContext, report: ReportStatus): Command {
  return newCommand('runs', context)
    .summary('list, show, hold and purge runs')
    .description(
      'List the runs of a folder, show one, keep one from every deletion, or delete what old ones found.',
    )
    .helpCommand(false)
    .addCommand(listCommand(context))
    .addCommand(showCommand(context))
    .addCommand(holdCommand(context))
    .addCommand(purgeCommand(context, report))
    .addHelpText(
      'after',
      examples([
        ['guardsweep runs list', 'the runs in ./runs'],
        ['guardsweep runs purge --older-than 30d --dry-run', 'what a purge would delete'],
      ]),
    );
}

const LIST_SETTINGS = { out: RUNS_FOLDER, json: JSON_OUTPUT };

function listCommand(context: CommandContext): Command {
  return newCommand('list', context, LIST_SETTINGS)
    .summary('list the runs of a folder')
    .description(
      'List the runs of a folder, newest first. A damaged run is listed with the reason. Changes nothing.',
    )
    .addHelpText('after', examples([['guardsweep runs list --out /data/runs', 'the runs in this folder']]))
    .action(async (flags: Flags) => {
      const { out, json } = await resolveSettings(LIST_SETTINGS, { flags, ...context });
      const { listRuns } = await import('../../dashboard/runs/kept-runs.ts');
      const { runs, older } = await listRuns(out, context.interrupts.drain);
      if (json) context.stdout.json(runs);
      else context.stdout.lines(listLines(runs, older));
    });
}

function showCommand(context: CommandContext): Command {
  return newCommand('show', context, LIST_SETTINGS)
    .summary('show what is known of a run')
    .description(
      'Show the configuration, the counts and the chain head of a run in a few lines. Changes nothing.',
    )
    .argument('<run-dir>', RUN)
    .addHelpText('after', examples([['guardsweep runs show latest', 'the newest run in ./runs']]))
    .action(async (given: string, flags: Flags) => {
      const { out, json } = await resolveSettings(LIST_SETTINGS, { flags, ...context });
      const dir = resolveRunDirectory(given, context.cwd, out);
      const { showRun } = await import('../../dashboard/runs/kept-runs.ts');
      const run = await showRun(dir, context.interrupts.drain);
      if (json) context.stdout.json(run);
      else context.stdout.lines(showLines(run));
    });
}

const HOLD_SETTINGS = { release: RELEASE, reason: HOLD_REASON, out: RUNS_FOLDER };

function holdCommand(context: CommandContext): Command {
  return newCommand('hold', context, HOLD_SETTINGS)
    .summary('keep a run from every deletion')
    .description(
      'Keep a run from every deletion until it is released. Writes who, when and why into the run directory.',
    )
    .argument('<run-dir>', RUN)
    .addHelpText(
      'after',
      examples([
        ['guardsweep runs hold latest --reason "case 4711"', 'keep the newest run'],
        ['guardsweep runs hold latest --release', 'keep it no longer'],
      ]),
    )
    .action(async (given: string, flags: Flags) => {
      const { out, release, reason } = await resolveSettings(HOLD_SETTINGS, { flags, ...context });
      if (release && reason !== null)
        throw new Failure('usage', '--reason is about a hold: leave out --release');
      const dir = resolveRunDirectory(given, context.cwd, out);
      const [{ holdRun, releaseRun }, { assertRunDirectory }, { userOfProcess }] = await Promise.all([
        import('../../runs/retention/hold.ts'),
        import('../../record/read-record.ts'),
        import('../../runs/trust/append-entry.ts'),
      ]);
      await assertRunDirectory(dir);
      if (release) await releaseRun(dir);
      else await holdRun(dir, { at: new Date().toISOString(), by: userOfProcess(), reason });
      context.stdout.line(`${quoteName(basename(dir))}: ${release ? 'no longer held' : 'held'}`);
    });
}

const PURGE_SETTINGS = { olderThan: OLDER_THAN, dryRun: DRY_RUN, out: RUNS_FOLDER, json: JSON_OUTPUT };

function purgeCommand(context: CommandContext, report: ReportStatus): Command {
  return newCommand('purge', context, PURGE_SETTINGS)
    .summary('delete what finished runs found, and keep heads and counts')
    .description(
      'Delete from finished runs whatever bears content or names single items: outcomes, tables, reports. Configuration, ' +
        'manifest, chain head and counts stay. Runs that are held, in use, damaged or not finished are left and named. ' +
        'A purge that was interrupted is finished by the next. ' +
        'Status 0: done; 1: a run that was named is left, or one cannot be purged.',
    )
    .argument('[run-dir...]', `${RUN}; default: all runs in --out`)
    .addHelpText(
      'after',
      examples([
        ['guardsweep runs purge --older-than 30d --dry-run', 'what would be deleted'],
        ['guardsweep runs purge 20261121T020000Z-nightly-ab12', 'this run, however old it is'],
      ]),
    )
    .action(async (given: string[], flags: Flags) => {
      const { olderThan, dryRun, out, json } = await resolveSettings(PURGE_SETTINGS, { flags, ...context });
      if (olderThan === null && given.length === 0) {
        throw new Failure('usage', 'say which runs to purge: --older-than 30d, or their names');
      }
      const signal = context.interrupts.drain;
      const [{ purgeRuns }, { removeAbandoned }, { listRuns }, { userOfProcess }] = await Promise.all([
        import('../../runs/retention/purge-runs.ts'),
        import('../../runs/retention/remove-abandoned.ts'),
        import('../../fleet/status/run-status.ts'),
        import('../../runs/trust/append-entry.ts'),
      ]);
      if (!dryRun) await removeAbandoned(out);
      const named = given.map((name) => resolveRunDirectory(name, context.cwd, out));
      const dirs = given.length > 0 ? named : (await listRuns(out, Infinity)).reverse();
      const about = { by: userOfProcess(), now: new Date(), olderThanMs: olderThan, dryRun, signal };
      const results: PurgeResult[] = [];
      for await (const result of purgeRuns(dirs, about)) {
        results.push(result);
        if (!json && isShown(result, given.length > 0)) context.stdout.line(purgeLine(result, dryRun));
      }
      if (json) context.stdout.json(results);
      else context.stdout.line(totalLine(results, dryRun));
      const isLeft = ({ outcome }: PurgeResult): boolean =>
        outcome === 'failed' || (given.length > 0 && (outcome === 'kept' || outcome === 'young'));
      if (results.some(isLeft)) report(1);
    });
}

/** When all runs of a folder are purged, those that were purged before and those that are too recent get no line. */
function isShown({ outcome }: PurgeResult, isNamed: boolean): boolean {
  return isNamed || (outcome !== 'done' && outcome !== 'young');
}

function purgeLine({ run, dir, outcome, reason, bytes, foreign }: PurgeResult, dryRun: boolean): string {
  const name = quoteName(run);
  if (outcome === 'done') return `${name}: ${escapeText(reason ?? '')}`;
  if (outcome !== 'purged') return `${name}: left as it is: ${escapeText(reason ?? '')}`;
  const others = foreign.map((path) => quoteName(path)).join(', ');
  const kept =
    foreign.length === 0 ? '' : `; not ours, and still in ${quoteName(basename(dirname(dir)))}: ${others}`;
  return `${name}: ${dryRun ? 'would free' : 'purged,'} ${mebibytes(bytes)}${kept}`;
}

function totalLine(results: readonly PurgeResult[], dryRun: boolean): string {
  const purged = results.filter(({ outcome }) => outcome === 'purged');
  const bytes = purged.reduce((sum, result) => sum + result.bytes, 0);
  const runs = `${purged.length} ${plural(purged.length, 'run')}`;
  return dryRun ? `Would purge ${runs}, ${mebibytes(bytes)}` : `Purged ${runs}, ${mebibytes(bytes)}`;
}
