import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { openInside, placeByName, readFolder } from '../../src/files/open-inside.ts';
import { folderWith } from '../helpers/cli.ts';

let corpus: string;

beforeEach(async () => {
  const outside = { 'corpus-2/a.txt': 'outside', 'corpus-2/secret.txt': 'outside' };
  corpus = join(await folderWith({ 'corpus/sub/a.txt': 'inside', ...outside }), 'corpus');
});

async function textIn(path: string): Promise<string> {
  const handle = await openInside(path, corpus);
  return handle.readFile('utf8').finally(() => handle.close());
}

test('opens what is inside, links included', async () => {
  symlinkSync('sub/a.txt', join(corpus, 'link.txt'));
  symlinkSync('sub', join(corpus, 'folder'));
  for (const name of ['sub/a.txt', 'link.txt', 'folder/a.txt'])
    expect(await textIn(join(corpus, name))).toBe('inside');
});

test.each([
  ['a link to a file', 'evil.txt', '../corpus-2/a.txt'],
  ['a link above a file', 'evil', '../corpus-2'],
  ['a link to a device', 'evil.txt', '/dev/zero'],
])('%s outside is refused', async (_, name, target) => {
  symlinkSync(target, join(corpus, name));
  const path = join(corpus, name, name === 'evil' ? 'a.txt' : '');
  await expect(textIn(path)).rejects.toMatchObject({ code: 'EOUTSIDE' });
});

test('a pipe is refused', async () => {
  execFileSync('mkfifo', [join(corpus, 'pipe')]);
  await expect(textIn(join(corpus, 'pipe'))).rejects.toMatchObject({ code: 'ENOTFILE' });
});

test('nothing outside is read while a folder is exchanged for a link', async () => {
  const sub = join(corpus, 'sub');
  let stopped = false;
  const exchange = (async () => {
    while (!stopped) {
      renameSync(sub, join(corpus, 'away'));
      symlinkSync('../corpus-2', sub);
      await new Promise(setImmediate);
      rmSync(sub);
      renameSync(join(corpus, 'away'), sub);
      await new Promise(setImmediate);
    }
  })();
  const found = new Set<string>();
  for (let round = 0; round < 3000; round++) {
    found.add(await textIn(join(sub, 'a.txt')).catch((error: { code: string }) => error.code));
    const names = await readFolder(sub).catch(() => []);
    for (const { name } of names) found.add(name.toString());
  }
  stopped = true;
  await exchange;
  // Which of these are found depends on the moments of the exchange.
  const possible = ['inside', 'a.txt', 'ENOENT', 'EOUTSIDE', 'ENOTFILE'];
  expect([...found].filter((text) => !possible.includes(text))).toEqual([]);
  expect(await textIn(join(sub, 'a.txt'))).toBe('inside');
});

test('without descriptors to ask, a file is looked for under its name', async () => {
  const path = join(corpus, 'sub/a.txt');
  const handle = await open(path);
  onTestFinished(() => handle.close());
  expect(await placeByName(handle, path)).toBe(path);
  renameSync(join(corpus, 'sub'), join(corpus, 'away'));
  symlinkSync('../corpus-2', join(corpus, 'sub'));
  await expect(placeByName(handle, path)).rejects.toMatchObject({ code: 'EOUTSIDE' });
});

test('a folder is listed, a link to one is not', async () => {
  symlinkSync('sub', join(corpus, 'folder'));
  expect((await readFolder(join(corpus, 'sub'))).map(({ name }) => name.toString())).toEqual(['a.txt']);
  await expect(readFolder(join(corpus, 'folder'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(readFolder(join(corpus, 'folder/sub'))).rejects.toThrow();
});
