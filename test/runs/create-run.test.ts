import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { folderWith } from '../helpers/cli.ts';
import { createdRun } from './small-run.ts';

afterEach(() => vi.restoreAllMocks());

it('a run that finds no room on the disk is not made, and leaves nothing', async () => {
  const folder = await folderWith({ 'uploads/a.txt': 'a text' });
  const handle = await open(join(folder, 'uploads', 'a.txt'));
  await handle.close();
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  vi.spyOn(handles, 'appendFile').mockRejectedValue(full);
  await expect(createdRun(folder)).rejects.toMatchObject({
    kind: 'service',
    message: expect.stringContaining('the disk is full') as string,
  });
  expect(await readdir(join(folder, 'runs'))).toEqual([]);
});
