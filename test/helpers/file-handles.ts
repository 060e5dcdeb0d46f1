import { open, type FileHandle } from 'node:fs/promises';

/** What all file handles inherit: the place to make the disk fail, in one method, for real files. `path`: of any file or folder. */
export async function fileHandles(path: string): Promise<FileHandle> {
  const handle = await open(path);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}
