import { join } from 'node:path';
import type { AfterFinish } from '../../config/after-finish.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { verifyRun } from '../../record/verify/verify.ts';
import type { RunResult } from '../run-end.ts';
import { hashFile } from '../../files/hash-file.ts';
import { noteHead } from '../../sink/note-head.ts';
import type { Summary } from '../../record/summary/summary.ts';

interface HandOverOptions {
  readonly afterFinish: Pick<AfterFinish, 'headFile' | 'onFinish'>;
  readonly signal: AbortSignal;
}

/**
 * Notes the chain head of a finished run if requested. Failure('service') when that fails; Failure('internal') when the
 * run was finished earlier and its record does not verify: it may have been forged since, so its head is not published.
 */
export async function handOver(
  { run, summary, worked }: RunResult,
  { afterFinish: { headFile, onFinish }, signal }: HandOverOptions,
): Promise<void> {
  if (summary.status !== 'finished' || (headFile === null && onFinish.length === 0)) return;
  if (!worked) await assertRecordHolds(run.dir, signal);
  if (headFile !== null) await noteFinished(headFile, run.dir, summary, signal);
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
