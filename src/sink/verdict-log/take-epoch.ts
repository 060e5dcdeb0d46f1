import { existsSync, lstat } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { createFile } from '../../files/create-file.ts';
import { RUN_FILES, commitsName } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';

/** Takes the next free epoch by creating its commits file exclusively: no two processes get the same one. */
export async function takeNextEpoch(runDir: string): Promise<{ epoch: number; commits: FileHandle }> {
  for (;;) {
    const epoch = ((await listEpochs(runDir)).at(-1) ?? 0) + 1;
    try {
      const path = join(runDir, RUN_FILES.log, commitsName(epoch));
      return { epoch, commits: await createFile(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/**
 * Throws Failure('superseded') once a later epoch was taken. Epochs are taken without gaps, so only the next one is
 * checked. Failure('service') when this epoch's own commits file is gone: an open file can be written to long after it
 * was deleted.
 */
export async function assertHighestEpoch(runDir: string, epoch: number): Promise<void> {
  if (await isTaken(runDir, epoch + 1)) {
    throw new Failure('superseded', 'another process has taken over this run: this one stops writing');
  }
  if (await isTaken(runDir, epoch)) return;
  const what = `log/${commitsName(epoch)} was deleted or moved while it was being written: put it back and resume the run`;
  throw goneFailure(runDir) ?? new Failure('service', what);
}

/**
 * The error to report when the writer of an epoch failed to read the record. An overtaken writer may read what its
 * successor writes and find it inconsistent: the reason is then Failure('superseded'). Aborts, and failures of any kind
 * except 'internal', are returned unchanged.
 */
export async function supersededOr(error: unknown, runDir: string, epoch: number): Promise<unknown> {
  if (error instanceof Failure ? error.kind !== 'internal' : isAbort(error)) return error;
  try {
    await assertHighestEpoch(runDir, epoch);
    return error;
  } catch (overtaken) {
    return overtaken instanceof Failure && overtaken.kind === 'superseded' ? overtaken : error;
  }
}

const isAbort = (error: unknown): boolean => error instanceof Error && error.name === 'AbortError';

/** Avoids `lstat` with promises: nearly every call ends in an error, and promises collect a stack for each. */
function isTaken(runDir: string, epoch: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    lstat(join(runDir, RUN_FILES.log, commitsName(epoch)), (error) => {
      if (error === null) resolve(true);
      else if (error.code === 'ENOENT') resolve(false);
      else reject(error);
    });
  });
}

/** The failure to report when the run directory or its log disappeared during a run; null when both exist. */
export function goneFailure(runDir: string, cause?: unknown): Failure | null {
  if (!existsSync(join(runDir, RUN_FILES.run))) {
    return new Failure(
      'service',
      `the run directory was deleted or moved during the run: ${runDir}; if it is elsewhere now, resume it there`,
      { cause },
    );
  }
  if (existsSync(join(runDir, RUN_FILES.log))) return null;
  return new Failure(
    'service',
    `the verdict log was deleted or moved while it was being written: ${join(runDir, RUN_FILES.log)}; put it back and resume ` +
      'the run, or start a new one',
    { cause },
  );
}
