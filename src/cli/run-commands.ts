import { guardUrlsOf, parseGuardUrls } from '../config/guard-url.ts';
import { Failure } from '../domain/failure.ts';
import { plural } from '../domain/plural.ts';
import { expandSources } from '../ingest/expand.ts';
import { inspectSources } from '../ingest/inspect.ts';
import { continueRun } from '../runs/continue-run.ts';
import { createRun, type Run } from '../runs/create-run.ts';
import { findUnfinished, openRun } from '../runs/open-run.ts';
import { verifyRun } from '../sink/verify.ts';
import { columnNotes } from './column-notes.ts';
import type { FeedUi, RunCommands, RunUi } from './context.ts';
import { openGuardSession, type GuardSession } from './guard-session.ts';
import { startProgress, type Progress } from './progress.ts';
import { resumeCommand } from './resume-command.ts';
import { explained, report, snapshot, tell } from './run-report.ts';
import { toolVersion } from './tool-version.ts';
import { unheardClips } from './unheard-clips.ts';

/** What a fleet takes is loaded by those who have one: it takes longer than all the rest. */
const fleet = () => import('./feed-fleet.ts');

/** The commands that work on a run: in this process, or by feeding a fleet where a Redis is named. */
export const runCommands: RunCommands = {
  async enqueue(config, ui) {
    const { drain } = ui.interrupts;
    const { sources, skipped } = await expandSources(config.sources, drain);
    const inspection = await inspectSources(sources, config.sources, config.limits.itemBytes, drain);
    const unfinished = await findUnfinished(config);
    if (unfinished !== null) {
      tell(
        ui,
        `an earlier run of these sources is not finished; to finish it: ${resumeCommand(unfinished, ui)}`,
      );
    }
    const create = async (): Promise<Run> => {
      const run = await createRun(config, sources, { now: new Date(), toolVersion: toolVersion(), skipped });
      tell(ui, `run directory ${run.dir}`);
      return run;
    };
    const notes = columnNotes(inspection);
    if (ui.redis !== null) return (await fleet()).feedFleet(create, false, ui.redis, ui, notes);
    const opening = { ...config, startWaitMs: ui.startWaitMs };
    const guards = await openGuardSession(opening, ui.env, drain, (line) => tell(ui, line));
    try {
      return await work(await create(), false, async () => guards, ui, notes);
    } finally {
      await guards.close();
    }
  },

  async resume(runDir, ui) {
    return continueExisting(runDir, false, ui);
  },

  async retry(runDir, ui) {
    return continueExisting(runDir, true, ui);
  },

  async verify(runDir, { head }, ui) {
    const report = await verifyRun(runDir, {
      signal: ui.interrupts.drain,
      ...(head === null ? {} : { head }),
    });
    if (ui.json) ui.stdout.write(`${JSON.stringify(report)}\n`);
    else if (report.ok) {
      const { items, verdicts, errors, lostToDamage } = report;
      ui.stdout.write(
        `verified: ${items} ${plural(items, 'item')} = ${verdicts} ${plural(verdicts, 'verdict')} + ${errors} ${plural(errors, 'error')}; chain head ${report.head}\n`,
      );
      if (lostToDamage > 0)
        ui.stdout.write(
          `${lostToDamage} ${plural(lostToDamage, 'outcome')} had been damaged before the run was finished, and the items were judged again\n`,
        );
    } else ui.stdout.write(`does not hold: ${report.problem}\n`);
    return report.ok ? 0 : 1;
  },
};

/** The guards of a run that this process judges: the run's own, or where a fleet began it, those of `GUARD_URL`. */
function guardsFor({ record }: Run, env: NodeJS.ProcessEnv): readonly string[] {
  const { guards } = record.config;
  if (guards.length > 0) return guards;
  const named = guardUrlsOf(env);
  if (named !== null) return parseGuardUrls(named);
  throw new Failure(
    'usage',
    'a fleet judges this run: name its Redis with --redis or REDIS_URL, or with GUARD_URL a guard through which this process judges it',
  );
}

/** Guards are opened when there turns out to be something to judge: a run may only lack its final files. */
async function continueExisting(runDir: string, retry: boolean, ui: FeedUi): Promise<number> {
  const run = await openRun(runDir, ui.interrupts.drain);
  if (ui.redis !== null) return (await fleet()).feedFleet(async () => run, retry, ui.redis, ui);
  const config = { ...run.record.config, guards: guardsFor(run, ui.env) };
  let guards: GuardSession | null = null;
  const opening = { ...config, startWaitMs: ui.startWaitMs };
  const open: OpenGuards = async (say) =>
    (guards = await openGuardSession(opening, ui.env, ui.interrupts.drain, say));
  try {
    return await work(run, retry, open, ui);
  } finally {
    await (guards as GuardSession | null)?.close();
  }
}

type OpenGuards = (say: (line: string) => void) => Promise<GuardSession>;

/** Takes the run to its end, shows it on the way, prints the summary, gives the exit status. */
async function work(
  run: Run,
  retry: boolean,
  guards: OpenGuards,
  ui: RunUi,
  notes: readonly string[] = [],
): Promise<number> {
  const failed = new AbortController();
  let progress: Progress | null = null;
  let waiting = false;
  const say = (line: string): void =>
    progress === null ? tell(ui, line) : progress.say(`guardsweep: ${line}`);
  const { drain, stop } = ui.interrupts;
  drain.addEventListener('abort', () =>
    say('finishing what is in flight, at most 10 s; again to stop at once'),
  );
  stop.addEventListener('abort', () => say('stopping'));
  try {
    const { summary, worked } = await continueRun(run, {
      retry,
      connect: async () => {
        const { pool, died } = await guards(say);
        if (died.aborted) failed.abort(died.reason);
        died.addEventListener('abort', () => failed.abort(died.reason), { once: true });
        for (const { name, state } of pool.status()) {
          if (state.name === 'out')
            say(`${name} is not ready (${state.reason}); the run goes on with the others`);
        }
        pool.onStateChange(() => {
          const down = pool.status().every((endpoint) => endpoint.state.name !== 'ready');
          if (down !== waiting) say(down ? 'no guard is ready; waiting' : 'a guard is ready again');
          waiting = down;
        });
        const unheard = await unheardClips(run.sources, pool, drain);
        if (unheard !== null) say(unheard);
        return pool;
      },
      drain,
      stop: AbortSignal.any([stop, failed.signal]),
      say,
      watch: (view) =>
        (progress = startProgress(ui, () => snapshot(view(), waiting ? 'waiting for a guard' : null))),
    });
    (progress as Progress | null)?.stop();
    if (!worked)
      tell(ui, retry ? 'nothing to retry: no item ended in a retryable error' : 'this run is finished');
    return report(run, summary, ui, notes);
  } catch (error) {
    (progress as Progress | null)?.stop();
    throw explained(error, run, ui);
  }
}
