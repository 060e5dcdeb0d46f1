import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { hashFile } from '../../files/hash/hash-file.ts';
import { noteHead } from '../../sink/note-head.ts';
import type { Summary } from '../../record/summary/summary.ts';

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
    throw new Failure('service', `the head of the run ${run} cannot be noted in ${headFile} (${code})`, {
      cause,
    });
  }
}
