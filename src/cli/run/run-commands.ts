import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { readGuardTls, refuseGuardTls } from '../../config/keys/guard-tls.ts';
import { GUARD } from '../../config/settings/entries/guard.ts';
import { resolveSetting } from '../../config/settings/given.ts';
import { Failure } from '../../domain/failure.ts';
import { plural } from '../../domain/text/plural.ts';
import { guardOpener, guardsOfRun } from '../../guard-setup/guard-session.ts';
import { startHere } from '../../guard-setup/start-here.ts';
import type { PurgedReport } from '../../record/verify/verify-purged.ts';
import { verifyRun } from '../../record/verify/verify.ts';
import { isDiskFull } from '../../files/disk-full.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { Run } from '../../runs/create-run.ts';
import { tellEnd } from '../../runs/finish/tell-end.ts';
import type { RunOptions } from '../../runs/prepare-run.ts';
import type { RunResult } from '../../runs/run-end.ts';
import { resumeRun } from '../../runs/start-run.ts';
import { runKeyFile } from '../../runs/trust/run-key.ts';
import type { ContinueUi, FeedUi, RunCommands, RunUi, VerifyAgainst } from '../context.ts';
import { conclude } from './conclude.ts';
import { assertExportable } from './export-clean-rows.ts';
import { RunDisplay } from './run-display.ts';
import { explained } from './run-report.ts';

/** Loaded only for a fleet, because its imports take longer to load than everything else. */
const onFleet = () => import('../../fleet/feeder/run-on-fleet.ts');

/** Reason why TLS files are rejected when a fleet judges. */
const WITH_REDIS =
  'with Redis the workers judge: give it to them (guardsweep worker), or name no Redis (--redis, REDIS_URL)';

/** The commands that work on a run: in this process, or by feeding a fleet if a Redis is named. */
export const runCommands: RunCommands = {
  enqueue: async (config, ui, runId) => {
    await assertExportable(ui, config.sources);
    const isFirst = !existsSync(config.output.dir);
    return shown(ui, { retry: false, isFirst }, async (options) => {
      const { fleet, guardTls, startWaitMs, env, afterFinish } = ui;
      if (fleet === null) {
        return startHere({ config, guardTls, startWaitMs, afterFinish }, env, options);
      }
      refuseGuardTls(guardTls, WITH_REDIS);
      return (await onFleet()).startRunOnFleet(config, { ...options, ...fleet, startWaitMs, runId });
    });
  },

  resume: (dir, ui) => continued(dir, false, ui),

  retry: (dir, ui) => continued(dir, true, ui),

  verify: verifyAndReport,
};

async function continued(dir: string, retry: boolean, ui: ContinueUi): Promise<number> {
  await assertExportable(ui, []);
  return shown(ui, { retry, isFirst: false }, async (common) => {
    const { fleet, guardTls, startWaitMs, cwd, env, afterFinish, trustRun: trusted } = ui;
    const options = { ...common, retry, trusted };
    if (fleet === null) {
      const guards: Parameters<typeof resumeRun>[1]['guards'] = async (config) => {
        // Only the environment may name guards here: another user may have written the run directory.
        const named = (await resolveSetting(GUARD, { flags: {}, env, cwd })) ?? [];
        const opening = { ...config, ...guardsOfRun(config.guards, named), startWaitMs };
        return guardOpener({ ...opening, tls: await readGuardTls(guardTls, opening.guards) }, env);
      };
      return resumeRun(dir, { ...options, guards, signingKey: afterFinish.signingKey });
    }
    refuseGuardTls(guardTls, WITH_REDIS);
    return (await onFleet()).resumeRunOnFleet(dir, { ...options, ...fleet, startWaitMs });
  });
}

/** Shows the messages of a run while `work` completes it, then its summary. Returns the exit status. */
async function shown(
  ui: FeedUi,
  about: { readonly retry: boolean; readonly isFirst: boolean },
  work: (options: RunOptions) => Promise<RunResult>,
): Promise<number> {
  const display = new RunDisplay(ui);
  const { drain, stop } = ui.interrupts;
  let result: RunResult;
  try {
    result = await work({ keyFile: runKeyFile(ui.env), drain, stop, report: display.report });
  } catch (error) {
    if (display.run === null) throw error;
    const failure = explained(error, display.run, ui);
    await tellOfFailure(display.run, null, failure, ui);
    throw failure;
  } finally {
    display.stop();
  }
  try {
    const status = await conclude(result, about, ui);
    await told({ run: result.run, status, summary: result.summary }, ui);
    return status;
  } catch (error) {
    await tellOfFailure(result.run, result.summary, error, ui);
    throw error;
  }
}

/** Tells the user's program or webhook how the work on a run failed, unless another process continues it. */
async function tellOfFailure(run: Run, summary: Summary | null, error: unknown, ui: FeedUi): Promise<void> {
  if (error instanceof Failure && error.kind === 'superseded') return;
  const status = error instanceof Failure ? error.exitStatus : isDiskFull(error) ? 4 : 1;
  // A record that failed verification may be forged, so its head is not passed on.
  await told({ run, status, summary: status === 1 ? null : summary }, ui);
}

async function told(ended: Parameters<typeof tellEnd>[0], ui: FeedUi): Promise<void> {
  const { afterFinish, cwd, env, interrupts } = ui;
  const failure = await tellEnd(ended, { afterFinish, cwd, env, signal: interrupts.stop });
  if (failure === null) return;
  const fields = { level: 'error', event: 'on_finish_failed', run: basename(ended.run.dir) } as const;
  if (typeof failure.cause === 'string' && failure.cause !== '')
    ui.stderr.lines(failure.cause.split('\n'), fields);
  ui.stderr.say(`after the run: ${failure.message}`, fields);
}

type Accounts = Pick<PurgedReport, 'items' | 'verdicts' | 'errors' | 'head'>;

/** Verifies a record and prints the result; returns the exit status. */
export async function verifyAndReport(
  runDir: string,
  { head, headFile, publicKey }: VerifyAgainst,
  ui: RunUi,
): Promise<number> {
  const report = await verifyRun(runDir, {
    signal: ui.interrupts.drain,
    ...(head === null ? {} : { head }),
    ...(headFile === null ? {} : { headFile }),
    ...(publicKey === null ? {} : { publicKey }),
  });
  if (ui.json) ui.stdout.json(report);
  else if (report.ok) {
    ui.stdout.line(`verified: ${accounts(report)}`);
    if (report.signature === 'valid') ui.stdout.line('the signature is valid');
    if (report.signature === 'unchecked')
      ui.stdout.line('it is signed, but the signature was not checked: give --public-key FILE');
  } else if ('purged' in report) ui.stdout.line(`${report.problem}: ${accounts(report)}`);
  else ui.stdout.line(`verification failed: ${report.problem}`);
  if (report.ok) return 0;
  return 'purged' in report ? new Failure('purged', report.problem).exitStatus : 1;
}

function accounts({ items, verdicts, errors, head }: Accounts): string {
  return (
    `${items} ${plural(items, 'item')} = ${verdicts} ${plural(verdicts, 'verdict')} + ` +
    `${errors} ${plural(errors, 'error')}; chain head ${head}`
  );
}
