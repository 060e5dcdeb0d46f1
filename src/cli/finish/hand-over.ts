import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Run } from '../../runs/create-run.ts';
import { noteFinished } from '../../runs/note-finished.ts';
import type { Summary } from '../../record/summary/summary.ts';
import type { FeedUi } from '../context.ts';
import { resumeCommand } from '../run/resume-command.ts';
import { runOnFinish } from './on-finish.ts';

/**
 * What is done once a run is finished: its head is noted, and the command of `--on-finish` is told of it. Both are tried;
 * Failure('service') when one of them did not work. A run that is not finished is left alone.
 */
export async function handOver(run: Run, summary: Summary, exitStatus: number, ui: FeedUi): Promise<void> {
  if (summary.status !== 'finished') return;
  const { headFile, onFinish } = ui.afterFinish;
  const signal = ui.interrupts.drain;
  const failures: string[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'service') throw error;
      failures.push(error.message);
      if (typeof error.cause === 'string' && error.cause !== '') ui.stderr.lines(error.cause.split('\n'));
    }
  };
  if (headFile !== null) await attempt(() => noteFinished(headFile, run.dir, summary, signal));
  if (onFinish.length > 0) {
    const about = {
      GUARDSWEEP_RUN: summary.run,
      GUARDSWEEP_RUN_DIR: run.dir,
      GUARDSWEEP_PASS: String(summary.pass),
      GUARDSWEEP_HEAD: summary.chain_head,
      GUARDSWEEP_STATUS: String(exitStatus),
      GUARDSWEEP_SUMMARY: join(run.dir, RUN_FILES.summary),
    };
    const { cwd, env } = ui;
    await attempt(() => runOnFinish({ command: onFinish, cwd, env, about, signal }));
  }
  if (failures.length === 0) return;
  throw new Failure(
    'service',
    `the run is finished, but ${failures.join('; ')}; to try again, give the same flags to: ${resumeCommand(run.dir, ui)}`,
  );
}
