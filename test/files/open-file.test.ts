import { execFileSync } from 'node:child_process';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import {
  FileTooLargeError,
  NotRegularFileError,
  openFile,
  readWholeFile,
} from '../../src/files/open-file.ts';
import { temporaryFolder } from '../helpers/cli.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder();
});

test('an ordinary file is opened, and read to its end', async () => {
  const path = join(folder, 'a');
  const bytes = Buffer.alloc(100_000, 'ab');
  await writeFile(path, bytes);
  const handle = await openFile(path, 'refuse');
  expect((await handle.stat()).size).toBe(100_000);
  await handle.close();
  expect(await readWholeFile(path, { maxBytes: 100_000, links: 'refuse' })).toEqual(bytes);
  await writeFile(path, '');
  expect(await readWholeFile(path, { maxBytes: 0, links: 'refuse' })).toHaveLength(0);
});

test('more bytes than are allowed are refused', async () => {
  const path = join(folder, 'a');
  await writeFile(path, 'abc');
  await expect(readWholeFile(path, { maxBytes: 2, links: 'refuse' })).rejects.toThrow(FileTooLargeError);
  await expect(readWholeFile('/proc/self/status', { maxBytes: 2, links: 'refuse' })).rejects.toThrow(
    FileTooLargeError,
  );
});

test('a pipe that nobody writes to, a device and a folder are refused at once', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', folder]) {
    await expect(openFile(path, 'follow')).rejects.toThrow(NotRegularFileError);
  }
});

test('a symbolic link is followed only where that was asked for', async () => {
  await writeFile(join(folder, 'a'), 'abc');
  await symlink('a', join(folder, 'link'));
  await (await openFile(join(folder, 'link'), 'follow')).close();
  await expect(openFile(join(folder, 'link'), 'refuse')).rejects.toThrow(NotRegularFileError);
});
