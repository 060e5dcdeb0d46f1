import { basename } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type * as OpenFile from '../../../src/files/open-file.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { finishedRun } from '../run-fixture.ts';
import { resultOf, shardOf } from '../shards.ts';

const refused = vi.hoisted(() => ({ name: '', code: '' }));

// Root may read every file, so the system's refusal is injected where files are opened.
vi.mock('../../../src/files/open-file.ts', async (original) => {
  const real = await original<typeof OpenFile>();
  const refuse = (path: string | Buffer): void => {
    if (basename(path.toString()) !== refused.name) return;
    throw Object.assign(new Error(refused.code), { code: refused.code, errno: -1, path: path.toString() });
  };
  const openFile: typeof real.openFile = async (path, links) => (refuse(path), real.openFile(path, links));
  const readWholeFile: typeof real.readWholeFile = async (path, how) => (
    refuse(path),
    real.readWholeFile(path, how)
  );
  return { ...real, openFile, readWholeFile };
});

afterEach(() => {
  refused.name = '';
});

it.each([
  ['EACCES', 'make it readable'],
  ['EMFILE', 'raise the limit of open files (ulimit -n)'],
  ['EIO', 'check the disk, or copy the run to another one'],
])('a file that answers %s could not be checked, and the message says what to do', async (code, remedy) => {
  const { dir } = await finishedRun([resultOf(shardOf(0, [0, 1]))]);
  for (const name of ['manifest.json', 'run.json', 'verdicts.jsonl']) {
    Object.assign(refused, { name, code });
    await expect(verifyRun(dir)).rejects.toMatchObject({
      kind: 'service',
      message: `the record could not be checked: ${name} cannot be read (${code}): ${remedy}, then verify again`,
    });
  }
  Object.assign(refused, { name: 'verdicts.jsonl', code: 'ENOENT' });
  expect(await verifyRun(dir)).toEqual({ ok: false, problem: 'verdicts.jsonl cannot be read (ENOENT)' });
});
