import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { OpenSource } from '../../../src/ingest/sources/open-source.ts';

describe('opening a source', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'guardsweep-'));
  });

  afterEach(() => {
    vi.restoreAllMocks();
    rmSync(root, { recursive: true, force: true });
  });

  test('closes the descriptor when its stats cannot be read', async () => {
    const absolute = join(root, 'a.txt');
    writeFileSync(absolute, 'text');
    const handles = await prototypeOfFileHandle(absolute);
    // eslint-disable-next-line @typescript-eslint/unbound-method
    const { stat } = handles;
    const opened: FileHandle[] = [];
    vi.spyOn(handles, 'stat').mockImplementation(async function (this: FileHandle) {
      opened.push(this);
      // The first call checks the file type.
      if (opened.length > 1) throw new Error('EIO');
      return stat.call(this);
    });
    const opening = OpenSource.open({ absolute, within: null }, new AbortController().signal);
    await expect(opening).rejects.toThrow('EIO');
    expect(opened.map(({ fd }) => fd)).toEqual([-1, -1]);
  });
});

async function prototypeOfFileHandle(path: string): Promise<FileHandle> {
  const handle = await open(path);
  await handle.close();
  return Object.getPrototypeOf(handle) as FileHandle;
}
