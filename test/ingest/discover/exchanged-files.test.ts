import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { corpusRoots } from '../../../src/ingest/sources/file-place.ts';
import type { SourceSnapshot } from '../../../src/ingest/sources/sources-file.ts';
import { CorpusFolders } from '../../../src/moderate/media/corpus-folders.ts';
import { hashSource } from '../../../src/sink/final-files/write-source-hashes.ts';
import { guardsweep } from '../../helpers/cli.ts';
import { codeOf, corpus, itemsOf, JPEG, listed, NEVER, testFolder } from '../read-items.ts';

const folder = testFolder();
const at = (name = ''): string => folder.at('c', name);
const write = (name: string, content: string | Buffer): string => folder.write(`c/${name}`, content);

beforeEach(() => {
  mkdirSync(at('sub'), { recursive: true });
  folder.write('outside/a.txt', 'a secret');
});

const codes = async (sources: readonly SourceSnapshot[], path = at()): Promise<string[]> =>
  (await itemsOf(sources, [corpus(path)])).map((item) => `${item.source.path} ${codeOf(item)}`);

function pipe(name: string): void {
  rmSync(at(name), { force: true });
  execFileSync('mkfifo', [at(name)]);
}

/** That nothing opens the only file of a corpus: no reader, no hash, no worker. */
async function expectUnread(sources: readonly SourceSnapshot[], code: string): Promise<void> {
  const { path } = sources[0]!;
  expect(await codes(sources)).toEqual([`${path} ${code}`]);
  expect(await hashSource(sources[0]!, NEVER)).toBeNull();
  const file = { corpus: 'c', path: path.slice('c/'.length) };
  const opened = await new CorpusFolders(corpusRoots(sources)).open(file, NEVER);
  expect(opened).toMatchObject({ code: 'UNREADABLE_SOURCE' });
}

/** The state of a file, as found just after an exchange. */
const stateOf = (path: string): Partial<SourceSnapshot> => {
  const { size, mtimeMs, ctimeMs, ino } = statSync(path);
  return { bytes: size, mtime_ms: mtimeMs, ctime_ms: ctimeMs, inode: ino };
};

describe('a pipe', () => {
  test('in the place of a file is not waited for', async () => {
    write('a.txt', 'x');
    const { sources } = await listed(at());
    pipe('a.txt');
    await expectUnread(sources, 'SOURCE_CHANGED');
  });

  test.each([
    ['a file that was named', 'a.txt', 'a.txt', ['a.txt']],
    ['a caption', 'photo.txt', '', ['c/photo.jpg']],
    ['manifest.csv', 'manifest.csv', '', ['c/a.txt', 'c/manifest.csv']],
  ])('in the place of %s is not waited for either', async (_, name, named, changed) => {
    if (name === 'photo.txt') write('photo.jpg', JPEG);
    else write('a.txt', 'x');
    write(name, 'path,id\na.txt,7\n');
    const { sources } = await listed(at(named));
    pipe(name);
    expect(await codes(sources, at(named))).toEqual(changed.map((source) => `${source} SOURCE_CHANGED`));
  });

  test('that was there from the start is listed as left out', async () => {
    write('a.txt', 'x');
    const names = ['.DS_Store', 'manifest.csv', 'photo.jpg', 'photo.txt', 'run.json'];
    for (const name of names) pipe(name);
    const { sources, skippedFiles } = await expandSources([corpus(at())], NEVER);
    expect(sources.map(({ path }) => path)).toEqual(['c/a.txt']);
    expect([...skippedFiles].map(({ path }) => path)).toEqual(names.map((name) => `c/${name}`));
  });

  test.each([
    ['as a source', ['pipe']],
    ['or a device as a policy', ['a.txt', '--policy', '/dev/zero']],
    ['in the policy’s place in a job file', ['job.yaml']],
  ])('%s is a usage failure', async (_, args) => {
    write('a.txt', 'x');
    write('job.yaml', 'sources: [{ path: a.txt }]\npolicy: pipe\n');
    pipe('pipe');
    const { status, stderr } = await guardsweep(['enqueue', ...args, '--guard', 'embedded:'], { cwd: at() });
    expect(stderr).toMatch(/is not a file|neither a file nor a folder/);
    expect(status).toBe(2);
  });
});

describe('a link to something outside', () => {
  test.each([
    ['a file', 'sub/a.txt', '../../outside/a.txt'],
    ['the folder above a file', 'sub', '../outside'],
  ])('in the place of %s is not read', async (_, exchanged, target) => {
    const file = write('sub/a.txt', 'harmless');
    const { sources } = await listed(at());
    rmSync(at(exchanged), { recursive: true });
    symlinkSync(target, at(exchanged));
    // Looks as if the exchange had come between the walk and the look at the file's state.
    await expectUnread([{ ...sources[0]!, ...stateOf(file) }], 'UNREADABLE_SOURCE');
  });

  test.each(['photo.txt', 'manifest.csv'])('in the place of %s is not read', async (name) => {
    const named = write('photo.jpg', JPEG);
    write(name, 'path,caption\nphoto.jpg,a caption\n');
    const { sources, configs } = await listed(named);
    const [photo] = sources;
    rmSync(at(name));
    folder.write('outside/secret', 'path,caption\nphoto.jpg,a secret\n');
    symlinkSync('../outside/secret', at(name));
    const key = name === 'photo.txt' ? 'sidecar' : 'manifest';
    const source = { ...photo!, [key]: { ...(photo![key] as object), ...stateOf(at(name)) } };
    const items = await itemsOf([source], configs);
    expect(items).toHaveLength(1);
    expect(items[0]!.settled).not.toBeNull();
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  test('is followed for a file that the user names', async () => {
    symlinkSync('../outside/a.txt', at('link.txt'));
    const { sources } = await listed(at('link.txt'));
    expect(await codes(sources, at('link.txt'))).toEqual(['link.txt ok']);
    expect(await hashSource(sources[0]!, NEVER)).not.toBeNull();
  });
});
