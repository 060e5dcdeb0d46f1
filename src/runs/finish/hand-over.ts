import { join } from 'node:path';
import type { AfterFinish } from '../../config/after-finish.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { verifyRun } from '../../record/verify/verify.ts';
import { EXIT_STATUS, type RunResult } from '../run-end.ts';
import { runOnFinish } from './on-finish.ts';
import { hashFile } from '../../files/hash-file.ts';
import { noteHead } from '../../sink/note-head.ts';
import type { Summary } from '../../record/summary/summary.ts';

interface HandOverOptions {
  readonly afterFinish: Pick<AfterFinish, 'headFile' | 'onFinish'>;
  /** Absolute; the command is run in it. */
  readonly cwd: string;
  /** Environment of this process; the command inherits all but our own variables. */
  readonly env: NodeJS.ProcessEnv;
  readonly signal: AbortSignal;
}

/**
 * Notes the chain head of a finished run, then runs the `--on-finish` command. Both are tried; returns their failures,
 * that of the command with its stderr as `cause`. Does nothing for a run that is not finished. Failure('internal') when
 * the run was finished earlier and its record does not verify: it may have been forged since, so its head is not noted.
 */
export async function handOver(
  { run, summary, end, worked }: RunResult,
  { afterFinish, cwd, env, signal }: HandOverOptions,
): Promise<readonly Failure[]> {
  const { headFile, onFinish } = afterFinish;
  if (summary.status !== 'finished' || (headFile === null && onFinish.length === 0)) return [];
  if (!worked) await assertRecordHolds(run.dir, signal);
  const failures: Failure[] = [];
  const attempt = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'service') throw error;
      failures.push(error);
    }
  };
  if (headFile !== null) await attempt(() => noteFinished(headFile, run.dir, summary, signal));
  if (onFinish.length > 0) {
    const about = {
      GUARDSWEEP_RUN: summary.run,
      GUARDSWEEP_RUN_DIR: run.dir,
      GUARDSWEEP_PASS: String(summary.pass),
      GUARDSWEEP_HEAD: summary.chain_head,
      GUARDSWEEP_STATUS: String(EXIT_STATUS[end]),
      GUARDSWEEP_SUMMARY: join(run.dir, RUN_FILES.summary),
    };
    await attempt(() => runOnFinish({ command: onFinish, cwd, env, about, signal }));
  }
  return failures;
}

async function assertRecordHolds(dir: string, signal: AbortSignal): Promise<void> {
  const report = await verifyRun(dir, { signal });
  if (report.ok) return;
  throw new Failure(
    'internal',
    `the head of the run is not noted, because its record failed verification: ${report.problem}`,
  );
}

/**
 * Adds the chain head of a finished run to a head file, unless it is already there. Failure('service') when that fails;
 * the run is finished regardless.
 */
export async function noteFinished(
  headFile: string,
  runDir: string,
  { run, pass, chain_head }: Summary,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { sha256 } = await hashFile(join(runDir, RUN_FILES.manifest), { signal });
    const at = new Date().toISOString();
    await noteHead(headFile, { at, run, pass, head: chain_head, manifest: sha256 }, signal);
  } catch (cause) {
    signal.throwIfAborted();
    const { code } = cause as NodeJS.ErrnoException;
    if (code === undefined) throw cause;
    throw new Failure('service', `the head of the run ${run} cannot be written to ${headFile} (${code})`, {
      cause,
    });
  }
}
