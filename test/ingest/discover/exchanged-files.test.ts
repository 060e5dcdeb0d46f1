import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { SourceSnapshots } from '../../../src/ingest/sources/source-snapshots.ts';
import { corpusRoots } from '../../../src/ingest/sources/file-place.ts';
import type { SourceSnapshot } from '../../../src/ingest/sources/sources-file.ts';
import { readSource } from '../../../src/ingest/items/read-source.ts';
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
    const media = new CorpusFolders(corpusRoots(sources));
    expect(await media.open({ corpus: 'c', path: 'a.txt' }, NEVER)).toMatchObject({
      code: 'UNREADABLE_SOURCE',
    });
  });

  test.each([
    ['a file that was named', 'a.txt', 'a.txt', ['a.txt']],
    ['a caption', 'photo.txt', '', ['c/photo.jpg']],
    ['manifest.csv', 'manifest.csv', '', ['c/a.txt', 'c/manifest.csv']],
    ['manifest.jsonl', 'manifest.jsonl', '', ['c/a.txt', 'c/manifest.jsonl']],
  ])('in the place of %s is not waited for either', async (_, name, named, changed) => {
    if (name === 'photo.txt') writeFileSync(join(root, 'photo.jpg'), JPEG);
    else writeFileSync(join(root, 'a.txt'), 'x');
    const text = name.endsWith('jsonl') ? '{"path":"a.txt","id":"7"}\n' : 'path,id\na.txt,7\n';
    writeFileSync(join(root, name), text);
    const path = join(root, named);
    const sources = await takeSnapshots(path);
    pipe(name);
    expect(await codes(sources, path)).toEqual(changed.map((source) => [source, 'SOURCE_CHANGED']));
  });

  test('that was there from the start is listed as left out', async () => {
    writeFileSync(join(root, 'a.txt'), 'x');
    for (const name of ['photo.jpg', 'photo.txt', 'manifest.csv', '.DS_Store', 'run.json']) pipe(name);
    const { sources, skippedFiles } = await expandSources([corpus(root)], NEVER);
    expect(sources.map(({ path }) => path)).toEqual(['c/a.txt']);
    expect([...skippedFiles].map(({ path }) => path)).toEqual([
      'c/.DS_Store',
      'c/manifest.csv',
      'c/photo.jpg',
      'c/photo.txt',
      'c/run.json',
    ]);
  });

  test.each([
    ['as a source', ['pipe']],
    ['as a job file', ['pipe.yaml']],
    ['as a policy', ['a.txt', '--policy', 'pipe']],
    ['or a device as a policy', ['a.txt', '--policy', '/dev/zero']],
    ['in the policy’s place in a job file', ['job.yaml']],
  ])('%s is a usage failure', async (_, args) => {
    writeFileSync(join(root, 'a.txt'), 'x');
    writeFileSync(join(root, 'job.yaml'), 'sources: [{ path: a.txt }]\npolicy: pipe\n');
    pipe('pipe');
    pipe('pipe.yaml');
    const { status, stderr } = await guardsweep(['enqueue', ...args, '--guard', 'embedded:'], { cwd: root });
    expect(stderr).toMatch(/is not a file|neither a file nor a folder/);
    expect(status).toBe(2);
  });
});

describe('a link to something outside', () => {
  /** Looks as if the exchange had come between the walk and the look at the file's state. */
  async function exchanged(exchange: () => void): Promise<SourceSnapshot[]> {
    writeFileSync(join(root, 'sub/a.txt'), 'harmless');
    const [source] = await takeSnapshots();
    exchange();
    return [{ ...source!, ...stateOf(join(root, 'sub/a.txt')) }];
  }

  test.each([
    [
      'a file',
      () => {
        rmSync(join(root, 'sub/a.txt'));
        symlinkSync('../../outside/a.txt', join(root, 'sub/a.txt'));
      },
    ],
    [
      'the folder above a file',
      () => {
        renameSync(join(root, 'sub'), join(folder, 'away'));
        symlinkSync('../outside', join(root, 'sub'));
      },
    ],
  ])('in the place of %s is not read', async (_, exchange) => {
    const sources = await exchanged(exchange);
    expect(await codes(sources)).toEqual([['c/sub/a.txt', 'UNREADABLE_SOURCE']]);
    expect(await hashSource(sources[0]!, NEVER)).toBeNull();
    const media = new CorpusFolders(corpusRoots(sources));
    expect(await media.open({ corpus: 'c', path: 'sub/a.txt' }, NEVER)).toMatchObject({
      code: 'UNREADABLE_SOURCE',
    });
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

test('a file that grows faster than it is read comes to an end', async () => {
  const path = join(root, 'rows.csv');
  writeFileSync(path, `text\n${'a row\n'.repeat(100_000)}`);
  const sources = await takeSnapshots();
  const { bytes } = sources[0]!;
  const found: string[] = [];
  let read = 0;
  const onBytes = (soFar: number): void => {
    read = soFar;
    if (read < 4 * bytes) appendFileSync(path, 'a row\n'.repeat(100_000));
  };
  const configs = [corpus(root)];
  const options = {
    snapshots: new SourceSnapshots(sources, configs),
    itemBytes: 1000,
    mediaBytes: 1000,
    unpack: DEFAULT_LIMITS.unpack,
    signal: NEVER,
  };
  for await (const items of readSource(sources[0]!, configs[0]!, 0, { ...options, onBytes }))
    found.push(...items.map(({ settled: known }) => known?.error?.code ?? 'ok'));
  expect(read).toBe(bytes);
  expect(found.at(-1)).toBe('SOURCE_CHANGED');
});
