import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { open, symlink, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { hashFile } from '../../src/files/hash-file.ts';
import { FileTooLargeError, NotRegularFileError } from '../../src/files/open-file.ts';
import { openFile, readWholeFile } from '../../src/files/open-file.ts';
import { readFully } from '../../src/files/read-fully.ts';
import { temporaryFolder } from '../helpers/cli.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  path = join(folder, 'a');
});

const read = (file: string, maxBytes: number): Promise<Buffer> =>
  readWholeFile(file, { maxBytes, links: 'refuse' });

test('an ordinary file is opened, and read to its end', async () => {
  const bytes = Buffer.alloc(100_000, 'ab');
  await writeFile(path, bytes);
  const handle = await openFile(path, 'refuse');
  expect((await handle.stat()).size).toBe(100_000);
  await handle.close();
  expect(await read(path, 100_000)).toEqual(bytes);
  await writeFile(path, '');
  expect(await read(path, 0)).toHaveLength(0);
});

test('more bytes than are allowed are refused', async () => {
  await writeFile(path, 'abc');
  for (const file of [path, '/proc/self/status'])
    await expect(read(file, 2)).rejects.toThrow(FileTooLargeError);
});

test('a pipe that nobody writes to, a device and a folder are refused at once', async () => {
  execFileSync('mkfifo', [path]);
  for (const file of [path, '/dev/zero', folder])
    await expect(openFile(file, 'follow')).rejects.toThrow(NotRegularFileError);
});

test('a symbolic link is followed only where that was asked for', async () => {
  await writeFile(path, 'abc');
  const link = join(folder, 'link');
  await symlink('a', link);
  await (await openFile(link, 'follow')).close();
  await expect(openFile(link, 'refuse')).rejects.toThrow(NotRegularFileError);
});

const LARGE_BYTES = 32 * 1024 * 1024;

test.each([16, 5_000_000, LARGE_BYTES, LARGE_BYTES + 1])('hashes a file of %i bytes', async (bytes) => {
  const content = Buffer.alloc(bytes);
  content.write('begins like this');
  await writeFile(path, content);
  const { signal } = new AbortController();
  expect(await hashFile(path, { signal })).toEqual({ sha256: hash('sha256', content), bytes });
});

const CONTENT = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));

/** The open file as a system shows it that returns at most `maxBytes` per read. */
function withShortReads(handle: FileHandle, maxBytes: number): FileHandle {
  const short = (target: Buffer, offset: number, length: number, position: number): unknown =>
    handle.read(target, offset, Math.min(length, maxBytes), position);
  return { read: short } as unknown as FileHandle;
}

test('fills the target from any position, up to the end of the file, however short the reads are', async () => {
  await writeFile(path, CONTENT);
  const handle = await open(path);
  onTestFinished(() => handle.close());
  const shortest = fc.integer({ min: 1, max: 400 });
  await fc.assert(
    fc.asyncProperty(fc.nat(1200), fc.nat(1200), shortest, async (position, length, maxBytes) => {
      const target = Buffer.alloc(length);
      const filled = await readFully(withShortReads(handle, maxBytes), target, position);
      expect(filled.equals(CONTENT.subarray(position, position + length))).toBe(true);
      expect(filled.buffer).toBe(target.buffer);
    }),
  );
});
