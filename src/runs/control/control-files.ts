import { lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { DIRECTORY_MODE, openForAppending } from '../../files/create-file.ts';
import { NotRegularFileError } from '../../files/open-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';

/** The message about a cancelled run. */
export const CANCELLED = 'cancelled; guardsweep resume continues it';

/** Ends the work on a run that was cancelled. */
export class RunCancelled extends Failure {
  constructor() {
    super('interrupted', CANCELLED);
  }
}

/**
 * Markers are empty files in the `control` folder of a run. They are requests to the run, except `unchecked`:
 * everything is committed, but the guards have not passed the canaries after it.
 */
type Marker = 'paused' | 'cancelled' | 'unchecked';

/** Path of the `control` folder of a run directory. */
export function controlFolder(runDir: string): string {
  return join(runDir, RUN_FILES.control);
}

/** Creates the folder if it does not exist. */
export async function makeControlFolder(runDir: string): Promise<void> {
  try {
    await mkdir(controlFolder(runDir), DIRECTORY_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    await isFolder(controlFolder(runDir));
  }
}

/** Whether the folder exists; rejects with NotRegularFileError when something else has its name. */
async function isFolder(path: string): Promise<boolean> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (found === null) return false;
  if (!found.isDirectory()) throw new NotRegularFileError(path);
  return true;
}

export async function setMarker(runDir: string, marker: Marker): Promise<void> {
  await makeControlFolder(runDir);
  const file = await openForAppending(join(controlFolder(runDir), marker));
  await file.close();
}

export async function clearMarker(runDir: string, marker: Marker): Promise<void> {
  if (await isFolder(controlFolder(runDir))) await rm(join(controlFolder(runDir), marker), { force: true });
}

export async function hasMarker(runDir: string, marker: Marker): Promise<boolean> {
  try {
    await lstat(join(controlFolder(runDir), marker));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
