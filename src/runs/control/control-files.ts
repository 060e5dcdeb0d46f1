import { access, mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DIRECTORY_MODE, FILE_MODE, RUN_FILES } from '../../sink/run-files.ts';

/** What can be asked of a run by a file in its `control` folder: an empty one, whose presence is the request. */
export type Marker = 'paused' | 'cancelled';

/** The folder `control` of a run directory. */
export function controlFolder(runDir: string): string {
  return join(runDir, RUN_FILES.control);
}

/** Makes the folder if it is not there. */
export async function makeControlFolder(runDir: string): Promise<void> {
  try {
    await mkdir(controlFolder(runDir), DIRECTORY_MODE);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

export async function setMarker(runDir: string, marker: Marker): Promise<void> {
  await makeControlFolder(runDir);
  const file = await open(join(controlFolder(runDir), marker), 'a', FILE_MODE);
  await file.close();
}

export async function clearMarker(runDir: string, marker: Marker): Promise<void> {
  await rm(join(controlFolder(runDir), marker), { force: true });
}

export async function hasMarker(runDir: string, marker: Marker): Promise<boolean> {
  try {
    await access(join(controlFolder(runDir), marker));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}
