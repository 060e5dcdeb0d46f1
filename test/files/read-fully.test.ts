import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { readFully } from '../../src/files/read-fully.ts';
import { folderWith } from '../helpers/cli.ts';

const CONTENT = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
/** The open file as a system shows it that returns at most `maxBytes` per read. */
function withShortReads(handle: FileHandle, maxBytes: number): FileHandle {
  const read = (target: Buffer, offset: number, length: number, position: number): unknown =>
    handle.read(target, offset, Math.min(length, maxBytes), position);
  return { read } as unknown as FileHandle;
}

test('fills the target from any position, up to the end of the file, however short the reads are', async () => {
  const folder = await folderWith({ file: CONTENT });
  const handle = await open(join(folder, 'file'));
  onTestFinished(() => handle.close());
  await fc.assert(
    fc.asyncProperty(
      fc.nat(1200),
      fc.nat(1200),
      fc.integer({ min: 1, max: 400 }),
      async (position, length, maxBytes) => {
        const target = Buffer.alloc(length);
        const read = await readFully(withShortReads(handle, maxBytes), target, position);
        expect(read.equals(CONTENT.subarray(position, position + length))).toBe(true);
        expect(read.buffer).toBe(target.buffer);
      },
    ),
  );
});
