import fs, { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { OpenSource } from '../../../src/ingest/sources/open-source.ts';

describe('opening a source', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'guardsweep-'));
  });

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  test('closes the descriptor when its stats cannot be read', async () => {
    const absolute = join(root, 'a.txt');
    writeFileSync(absolute, 'text');
    const { fstatSync } = fs;
    const opened: number[] = [];
    fs.fstatSync = ((fd: number) => {
      opened.push(fd);
      // The first call checks the file type.
      if (opened.length > 1) throw new Error('EIO');
      return fstatSync(fd);
    }) as typeof fstatSync;
    syncBuiltinESMExports();
    onTestFinished(() => {
      fs.fstatSync = fstatSync;
      syncBuiltinESMExports();
    });
    const opening = OpenSource.open({ absolute, within: null }, new AbortController().signal);
    await expect(opening).rejects.toThrow('EIO');
    expect(opened).toHaveLength(2);
    expect(() => fstatSync(opened[0]!)).toThrow('EBADF');
  });
});
