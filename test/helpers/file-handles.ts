import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

/** What all file handles inherit: the place to make the disk fail, in one method, for real files. `dir`: of a run. */
export async function fileHandles(dir: string): Promise<FileHandle> {
  const handle = await open(join(dir, 'run.json'));
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}
