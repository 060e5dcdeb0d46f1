import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { corpusRoots } from '../../../src/ingest/sources/file-place.ts';
import type { SourceSnapshot } from '../../../src/ingest/sources/sources-file.ts';
import { CorpusFolders } from '../../../src/moderate/media/corpus-folders.ts';
import { hashSource } from '../../../src/sink/final-files/write-source-hashes.ts';
import { guardsweep, temporaryFolder } from '../../helpers/cli.ts';
import { JPEG, corpus, itemsOf, NEVER } from '../read-items.ts';

let folder: string;
let root: string;

beforeEach(async () => {
  folder = await temporaryFolder();
  root = join(folder, 'c');
  mkdirSync(join(root, 'sub'), { recursive: true });
  mkdirSync(join(folder, 'outside'));
  writeFileSync(join(folder, 'outside/a.txt'), 'a secret');
});

const takeSnapshots = async (path = root): Promise<readonly SourceSnapshot[]> =>
  (await expandSources([corpus(path)], NEVER)).sources;

const codes = async (sources: readonly SourceSnapshot[], path = root) =>
  (await itemsOf(sources, [corpus(path)])).map(({ source, settled }) => [
    source.path,
    settled?.error?.code ?? 'ok',
  ]);

function pipe(name: string): void {
  rmSync(join(root, name), { force: true });
  execFileSync('mkfifo', [join(root, name)]);
}

/** The state of a file, as found just after an exchange. */
const stateOf = (path: string): Partial<SourceSnapshot> => {
  const { size, mtimeMs, ctimeMs, ino } = statSync(path);
  return { bytes: size, mtime_ms: mtimeMs, ctime_ms: ctimeMs, inode: ino };
};

describe('a pipe', () => {
  test('in the place of a file is not waited for', async () => {
    writeFileSync(join(root, 'a.txt'), 'x');
    const sources = await takeSnapshots();
    pipe('a.txt');
    expect(await codes(sources)).toEqual([['c/a.txt', 'SOURCE_CHANGED']]);
    expect(await hashSource(sources[0]!, NEVER)).toBeNull();
    const opened = new CorpusFolders(corpusRoots(sources)).open({ corpus: 'c', path: 'a.txt' }, NEVER);
    expect(await opened).toMatchObject({ code: 'UNREADABLE_SOURCE' });
  });

  test.each([
    ['a file that was named', 'a.txt', 'a.txt', ['a.txt']],
    ['a caption', 'photo.txt', '', ['c/photo.jpg']],
    ['manifest.csv', 'manifest.csv', '', ['c/a.txt', 'c/manifest.csv']],
  ])('in the place of %s is not waited for either', async (_, name, named, changed) => {
    if (name === 'photo.txt') writeFileSync(join(root, 'photo.jpg'), JPEG);
    else writeFileSync(join(root, 'a.txt'), 'x');
    writeFileSync(join(root, name), 'path,id\na.txt,7\n');
    const path = join(root, named);
    const sources = await takeSnapshots(path);
    pipe(name);
    expect(await codes(sources, path)).toEqual(changed.map((source) => [source, 'SOURCE_CHANGED']));
  });

  test('that was there from the start is listed as left out', async () => {
    writeFileSync(join(root, 'a.txt'), 'x');
    const names = ['.DS_Store', 'manifest.csv', 'photo.jpg', 'photo.txt', 'run.json'];
    for (const name of names) pipe(name);
    const { sources, skippedFiles } = await expandSources([corpus(root)], NEVER);
    expect(sources.map(({ path }) => path)).toEqual(['c/a.txt']);
    expect([...skippedFiles].map(({ path }) => path)).toEqual(names.map((name) => `c/${name}`));
  });

  test.each([
    ['as a source', ['pipe']],
    ['or a device as a policy', ['a.txt', '--policy', '/dev/zero']],
    ['in the policy’s place in a job file', ['job.yaml']],
  ])('%s is a usage failure', async (_, args) => {
    writeFileSync(join(root, 'a.txt'), 'x');
    writeFileSync(join(root, 'job.yaml'), 'sources: [{ path: a.txt }]\npolicy: pipe\n');
    pipe('pipe');
    const { status, stderr } = await guardsweep(['enqueue', ...args, '--guard', 'embedded:'], { cwd: root });
    expect(stderr).toMatch(/is not a file|neither a file nor a folder/);
    expect(status).toBe(2);
  });
});

describe('a link to something outside', () => {
  const file = (): string => join(root, 'sub/a.txt');

  test.each([
    ['a file', file, '../../outside/a.txt'],
    ['the folder above a file', () => join(root, 'sub'), '../outside'],
  ])('in the place of %s is not read', async (_, exchanged, target) => {
    writeFileSync(file(), 'harmless');
    const [source] = await takeSnapshots();
    rmSync(exchanged(), { recursive: true });
    symlinkSync(target, exchanged());
    // Looks as if the exchange had come between the walk and the look at the file's state.
    const sources = [{ ...source!, ...stateOf(file()) }];
    expect(await codes(sources)).toEqual([['c/sub/a.txt', 'UNREADABLE_SOURCE']]);
    expect(await hashSource(sources[0]!, NEVER)).toBeNull();
    const opened = new CorpusFolders(corpusRoots(sources)).open({ corpus: 'c', path: 'sub/a.txt' }, NEVER);
    expect(await opened).toMatchObject({ code: 'UNREADABLE_SOURCE' });
  });

  test.each(['photo.txt', 'manifest.csv'])('in the place of %s is not read', async (name) => {
    writeFileSync(join(root, 'photo.jpg'), JPEG);
    writeFileSync(join(root, name), 'path,caption\nphoto.jpg,a caption\n');
    const [photo] = await takeSnapshots(join(root, 'photo.jpg'));
    rmSync(join(root, name));
    writeFileSync(join(folder, 'outside/secret'), 'path,caption\nphoto.jpg,a secret\n');
    symlinkSync('../outside/secret', join(root, name));
    const key = name === 'photo.txt' ? 'sidecar' : 'manifest';
    const state = stateOf(join(root, name));
    const source = { ...photo!, [key]: { ...(photo![key] as object), ...state } };
    const items = await itemsOf([source], [corpus(join(root, 'photo.jpg'))]);
    expect(items).toHaveLength(1);
    expect(items[0]!.settled).not.toBeNull();
    expect(JSON.stringify(items)).not.toContain('secret');
  });

  test('is followed for a file that the user names', async () => {
    symlinkSync('../outside/a.txt', join(root, 'link.txt'));
    const path = join(root, 'link.txt');
    const sources = await takeSnapshots(path);
    expect(await codes(sources, path)).toEqual([['link.txt', 'ok']]);
    expect(await hashSource(sources[0]!, NEVER)).not.toBeNull();
  });
});
