import { GUARD } from '../../config/settings/entries/guard.ts';
import { givenValueOf } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { expandSources } from '../../ingest/discover/expand.ts';
import { inspectSources } from '../../ingest/recognise/inspect.ts';
import { continueRun, type Continued } from '../../runs/continue-run.ts';
import { createRun, type Run } from '../../runs/create-run.ts';
import { findUnfinished, openRun } from '../../runs/open-run.ts';
import { admitRun } from '../../runs/trust/admit-run.ts';
import { runKey } from '../../runs/trust/run-key.ts';
import { verifyRun } from '../../record/verify/verify.ts';
import { columnNotes } from './column-notes.ts';
import type { ContinueUi, FeedUi, RunCommands } from '../context.ts';
import { conclude } from '../finish/conclude.ts';
import { assertTokens, openGuardSession, type GuardSession } from '../../guard-setup/guard-session.ts';
import { startProgress, type Progress } from '../progress/progress.ts';
import { resumeCommand } from './resume-command.ts';
import { explained, snapshot, tell } from './run-report.ts';
import { toolVersion } from '../../config/tool-version.ts';
import { unheardClips } from './unheard-clips.ts';

/** What a fleet takes is loaded by those who have one: it takes longer than all the rest. */
const fleet = () => import('./run-on-fleet.ts');

/** The commands that work on a run: in this process, or by feeding a fleet where a Redis is named. */
export const runCommands: RunCommands = {
  async enqueue(config, ui) {
    const { drain } = ui.interrupts;
    const { sources, skipped, skippedFiles } = await expandSources(config.sources, drain);
    const inspection = await inspectSources(sources, config.sources, config.limits.itemBytes, drain);
    const unfinished = await findUnfinished(config);
    if (unfinished !== null) {
      tell(
        ui,
        `an earlier run of these sources is not finished; to finish it: ${resumeCommand(unfinished, ui)}`,
      );
    }
    const create = async (): Promise<Run> => {
      const key = await runKey(ui.env);
      const options = { now: new Date(), toolVersion: toolVersion(), skipped, skippedFiles, key };
      const run = await createRun(config, sources, options);
      tell(ui, `run directory ${run.dir}`);
      return run;
    };
    const notes = columnNotes(inspection);
    if (ui.fleet !== null) return (await fleet()).runOnFleet(create, false, ui.fleet, ui, notes);
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

  async verify(runDir, { head, headFile, publicKey }, ui) {
    const report = await verifyRun(runDir, {
      signal: ui.interrupts.drain,
      ...(head === null ? {} : { head }),
      ...(headFile === null ? {} : { headFile }),
      ...(publicKey === null ? {} : { publicKey }),
    });
    if (ui.json) ui.stdout.json(report);
    else if (report.ok) {
      const { items, verdicts, errors, lostToDamage } = report;
      ui.stdout.line(
        `verified: ${items} ${plural(items, 'item')} = ${verdicts} ${plural(verdicts, 'verdict')} + ${errors} ${plural(errors, 'error')}; chain head ${report.head}`,
      );
      if (lostToDamage > 0)
        ui.stdout.line(
          `${lostToDamage} ${plural(lostToDamage, 'outcome')} had been damaged before the run was finished, and the items were judged again`,
        );
      if (report.signature === 'valid') ui.stdout.line('the signature is valid');
      if (report.signature === 'unchecked')
        ui.stdout.line('it is signed, but the signature was not checked: give --public-key FILE');
    } else ui.stdout.line(`does not hold: ${report.problem}`);
    return report.ok ? 0 : 1;
  },
};

/**
 * The guards of a run that this process judges: the run's own, or where a fleet began it, those of `GUARD_URL`. Whoever
 * works on a run names no guard but with that variable: the run directory may be another's.
 */
async function guardsFor(
  { record }: Run,
  { env, cwd }: ContinueUi,
): Promise<{ readonly guards: readonly string[]; readonly namedByUser: readonly string[] }> {
  const { guards } = record.config;
  const namedByUser = (await givenValueOf(GUARD, { flags: {}, env, cwd })) ?? [];
  if (guards.length > 0) return { guards, namedByUser };
  if (namedByUser.length > 0) return { guards: namedByUser, namedByUser };
  throw new Failure(
    'usage',
    'a fleet judges this run: name its Redis with --redis or REDIS_URL, or with GUARD_URL a guard through which this process judges it',
  );
}

/** Guards are opened when there turns out to be something to judge: a run may only lack its final files. */
async function continueExisting(runDir: string, retry: boolean, ui: ContinueUi): Promise<number> {
  const { env, trustRun } = ui;
  await admitRun(runDir, { env, trusted: trustRun, say: (line) => tell(ui, line) });
  const run = await openRun(runDir, ui.interrupts.drain);
  if (ui.fleet !== null) return (await fleet()).runOnFleet(async () => run, retry, ui.fleet, ui);
  const config = { ...run.record.config, ...(await guardsFor(run, ui)) };
  assertTokens(config, env);
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
  ui: FeedUi,
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
  let continued: Continued;
  try {
    continued = await continueRun(run, {
      retry,
      signingKey: ui.afterFinish.signingKey,
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
  } catch (error) {
    (progress as Progress | null)?.stop();
    throw explained(error, run, ui);
  }
  return conclude(run, continued, { retry, notes }, ui);
}
