import { lstat, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { createFile } from '../../files/create-file.ts';
import { listFolder } from '../../files/list-folder.ts';
import { RUN_FILES, commitsName, epochOfCommits } from '../../files/run-files.ts';
import { goneFailure } from '../run-gone.ts';

/** The epochs that were claimed, or begun to be, in ascending order. */
export async function listEpochs(runDir: string): Promise<number[]> {
  let names: string[];
  try {
    names = await listFolder(join(runDir, RUN_FILES.log));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names
    .map(epochOfCommits)
    .filter((epoch) => epoch !== null)
    .sort((a, b) => a - b);
}

/** Takes the next free epoch by creating its commits file, which no two processes can do for the same epoch. */
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
 * Throws Failure('superseded') once a later epoch was taken. Epochs are taken one after the other, so the next one
 * is the one to look for. Failure('service') when the log is not there any more: a file that is open can be written
 * to for long after it was deleted.
 */
export async function assertHighestEpoch(runDir: string, epoch: number): Promise<void> {
  if (await isTaken(runDir, epoch + 1)) {
    throw new Failure(
      'superseded',
      'another process continues this run: nothing more is written by this one',
    );
  }
  if (await isTaken(runDir, epoch)) return;
  const what = `log/${commitsName(epoch)} was deleted or moved while it was written: put it back and resume the run`;
  throw goneFailure(runDir) ?? new Failure('service', what);
}

/**
 * Why reading the record failed, under an epoch that was taken. Who was overtaken reads what others write meanwhile,
 * which may not fit what it knows: then Failure('superseded') is the reason. What the machine or the user ended stays.
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

async function isTaken(runDir: string, epoch: number): Promise<boolean> {
  try {
    await lstat(join(runDir, RUN_FILES.log, commitsName(epoch)));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
