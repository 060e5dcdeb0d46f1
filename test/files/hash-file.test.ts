import { createHash } from 'node:crypto';
import { open, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hashFile } from '../../src/files/hash-file.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const LARGE_BYTES = 32 * 1024 * 1024;

const signal = new AbortController().signal;

async function fileOf(bytes: number): Promise<string> {
  const path = join(await temporaryFolder(), 'file');
  const handle = await open(path, 'w');
  await handle.write('begins like this');
  await handle.close();
  await truncate(path, bytes);
  return path;
}

function sha256Of(bytes: number): string {
  const all = Buffer.alloc(bytes);
  all.write('begins like this');
  return createHash('sha256').update(all).digest('hex');
}

test.each([16, 5_000_000, LARGE_BYTES, LARGE_BYTES + 1])('hashes a file of %i bytes', async (bytes) => {
  const path = await fileOf(bytes);
  expect(await hashFile(path, { signal })).toEqual({ sha256: sha256Of(bytes), bytes });
});
