import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from 'commander';
import { JSON_OUTPUT, WATCH } from '../../config/settings/entries/commands.ts';
import { REDIS } from '../../config/settings/entries/fleet.ts';
import { RUNS_FOLDER } from '../../config/settings/entries/output.ts';
import { type Flags, resolveSettings } from '../../config/settings/given.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import type { RunStatus, RunWatch } from '../../fleet/status/run-status.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { CANCELLED } from '../../runs/control/control-files.ts';
import type { CommandContext } from '../context.ts';
import { examples, newCommand } from '../new-command.ts';
import { progressLines } from '../progress/progress-lines.ts';
import { resolveRunDirectory } from '../run/run-directory.ts';

/** A run that cannot be read. */
interface Unreadable {
  readonly run: string;
  readonly dir: string;
  readonly state: 'unreadable';
  readonly problem: string;
}

type Shown = RunStatus | Unreadable;

/** States that a run leaves only when a user acts. */
const OVER: ReadonlySet<Shown['state']> = new Set(['finished', 'purged', 'cancelled', 'unreadable']);

/** Maximum runs listed, newest first. */
const MAX_LISTED = 20;
const WATCH_EVERY_MS = 2000;
const INDENT = '  ';
/** How long to wait for Redis, in milliseconds. */
const REDIS_WITHIN_MS = 1000;

const SETTINGS = { out: RUNS_FOLDER, redis: REDIS, watch: WATCH, json: JSON_OUTPUT };

/** `status [run]`: show the progress of runs, and why one is stuck. */
export function statusCommand(context: CommandContext): Command {
  return newCommand('status', context, SETTINGS)
    .summary('show the progress of runs, and why one is stuck')
    .description(
      'Show a run, or the newest runs of a folder: progress, time left, and whether it is fed. ' +
        'With the Redis of its fleet also what else blocks a run: no worker, no sink, no guard that is ready, ' +
        'a full disk, a full Redis. Changes nothing.',
    )
    .argument(
      '[run-dir]',
      'run directory; or in --out the name of a run, its beginning, or latest; without it, the newest runs there',
    )
    .addHelpText(
      'after',
      examples([
        ['guardsweep status', 'the newest runs in ./runs'],
        ['guardsweep status runs/20261121T020000Z-nightly-ab12 --watch', 'follow a run'],
      ]),
    )
    .action(async (runDir: string | undefined, flags: Flags) => {
      const { out, redis, watch, json } = await resolveSettings(SETTINGS, { flags, ...context });
      const { drain } = context.interrupts;
      const link = await linkIfThere(redis, context);
      const { listRuns, RunWatch } = await import('../../fleet/status/run-status.ts');
      const { problemOf } = await import('../../runs/open-run.ts');
      const watches = new Map<string, RunWatch>();
      const look = async (dir: string): Promise<RunStatus> => {
        const watch = watches.get(dir) ?? (await RunWatch.open(dir, drain));
        watches.set(dir, watch);
        return watch.look(link, drain);
      };
      const lookOrSay = async (dir: string): Promise<Shown> => {
        try {
          return await look(dir);
        } catch (error) {
          // A single run's failure ends the command; among several, it must not hide the others.
          if (drain.aborted || runDir !== undefined) throw error;
          watches.delete(dir);
          return { run: basename(dir), dir, state: 'unreadable', problem: problemOf(error) };
        }
      };
      try {
        for (;;) {
          const dirs =
            runDir === undefined
              ? await listRuns(out, MAX_LISTED)
              : [resolveRunDirectory(runDir, context.cwd, out)];
          for (const dir of watches.keys()) if (!dirs.includes(dir)) watches.delete(dir);
          const statuses: Shown[] = [];
          for (const dir of dirs) statuses.push(await lookOrSay(dir));
          // A run that was just started may not have a directory yet.
          const over = statuses.length > 0 && statuses.every(({ state }) => OVER.has(state));
          show(statuses, { json, isLast: !watch || over }, context);
          if (!watch || over) return;
          await delay(WATCH_EVERY_MS, undefined, { signal: drain });
        }
      } catch (error) {
        // An interrupt is the normal end of --watch.
        if (!drain.aborted || !watch || error instanceof Failure) throw error;
      } finally {
        context.stdout.keep();
        link?.close();
      }
    });
}

/** The directory holds most of the information, so an unreachable Redis causes only a notice. */
async function linkIfThere(address: RedisAddress | null, context: CommandContext): Promise<RedisLink | null> {
  if (address === null) return null;
  const say = (line: string): void => {
    context.stdout.erase();
    context.stderr.say(line);
  };
  const signal = context.interrupts.drain;
  const { RedisLink } = await import('../../queue/redis/link.ts');
  try {
    return await RedisLink.open(address, { say, signal, startTimeoutMs: REDIS_WITHIN_MS });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== 'service') throw error;
    say(`${error.message}; the following is from the run directories alone`);
    return null;
  }
}

/** On a terminal, the lines are rewritten in place at each update. */
function show(
  statuses: readonly Shown[],
  { json, isLast }: { readonly json: boolean; readonly isLast: boolean },
  { stdout, env }: CommandContext,
): void {
  if (json) return stdout.json(statuses);
  const inPlace = stdout.isTerminal && env['TERM'] !== 'dumb';
  const columns = inPlace ? stdout.lineColumns : undefined;
  const lines = statuses.length === 0 ? ['no runs'] : statuses.flatMap((status) => linesOf(status, columns));
  if (inPlace && !isLast) return stdout.redraw(lines);
  stdout.erase();
  stdout.lines(lines);
}

function linesOf(status: Shown, columns: number | undefined): string[] {
  const run = quoteName(status.run);
  if (status.state === 'unreadable') return [`${run}: ${status.state}; ${status.problem}`];
  const { plan_closed: planClosed, oldest_open_shard: oldest } = status;
  const snapshot = {
    ...status,
    planClosed,
    sent: null,
    answered: null,
    reused: null,
    fraction: null,
    note: null,
  };
  const progress = progressLines(snapshot, status.items_per_second, columns && columns - INDENT.length);
  const pass = status.pass > 1 ? `, pass ${status.pass}` : '';
  const priority = (status.priority ?? 'normal') === 'normal' ? '' : `, ${status.priority} priority`;
  const state = status.state === 'cancelled' ? CANCELLED : status.state;
  const lines = [`${run}: ${state}${pass}${priority}`, ...progress.map((line) => `${INDENT}${line}`)];
  if (status.damaged_at !== null) {
    lines.push(
      `${INDENT}${status.damaged_at} is damaged: outcomes from there on do not count; restore it or start a new run`,
    );
  }
  if (status.stuck !== null) {
    lines.push(`${INDENT}${status.stuck}${oldest === null ? '' : `; the oldest open shard is ${oldest}`}`);
  }
  return lines;
}
