import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expect, onTestFinished, test } from 'vitest';
import { OpenSource } from '../../../src/ingest/sources/open-source.ts';
import { NEVER, testFolder } from '../read-items.ts';

const folder = testFolder();

test('closes the descriptor when its stats cannot be read', async () => {
  const absolute = folder.write('a.txt', 'text');
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
  const opening = OpenSource.open({ absolute, within: null }, NEVER);
  await expect(opening).rejects.toThrow('EIO');
  expect(opened).toHaveLength(2);
  expect(() => fstatSync(opened[0]!)).toThrow('EBADF');
});
