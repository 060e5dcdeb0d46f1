import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { CorpusBounds } from '../../../src/ingest/discover/within-corpora.ts';
import { VerdictStore } from '../../../src/store/verdict-store.ts';
import { guardsweep } from '../../helpers/cli.ts';
import { asOrdinaryUser } from '../../helpers/ordinary-user.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { corpus, listed, NEVER, testFolder } from '../read-items.ts';

describe('expanding corpora', () => {
  const folder = testFolder();

  function lay(...paths: string[]): void {
    for (const path of paths) folder.write(path, 'x');
  }

  async function found(...given: string[]) {
    const configs = given.map((path) => corpus(folder.at(path)));
    const { sources, skipped, skippedFiles } = await expandSources(configs, NEVER);
    expect(sources.map(({ source }) => source)).toEqual(sources.map((_, index) => index));
    return { paths: sources.map(({ path }) => path), skipped, list: [...skippedFiles] };
  }

  test('a folder gives its files in bytewise order of their paths', async () => {
    const names = ['10.txt', '9.txt', 'Z.txt', 'a-b/1.txt', 'a.txt', 'a/z.csv', 'é.txt'];
    const sorted = names.map((name) => `c/${name}`);
    lay(...sorted.toReversed());
    expect((await found('c')).paths).toEqual(sorted);
  });

  test('links are followed inside the corpus only, and nothing is found twice', async () => {
    lay('c/a.txt', 'c/sub/b.txt', 'outside/secret.txt');
    symlinkSync(folder.at('outside/secret.txt'), folder.at('c/leak.txt'));
    symlinkSync(folder.at('outside'), folder.at('c/leak'));
    symlinkSync(folder.at('c'), folder.at('c/sub/circle'));
    symlinkSync('a.txt', folder.at('c/same.txt'));
    symlinkSync('nowhere', folder.at('c/broken.txt'));
    const { paths, skipped } = await found('c');
    expect(paths).toEqual(['c/a.txt', 'c/sub/b.txt']);
    const links = { 'links out of the corpus': 2, 'links within the corpus': 2, 'broken links': 1 };
    expect(skipped).toEqual(links);
  });

  test.each([
    ['c/*.csv', ['c/[1].csv', 'c/a.csv']],
    ['c/**/*.{csv,jsonl}', ['c/[1].csv', 'c/a.csv', 'c/b.jsonl', 'c/sub/c.csv']],
    ['c/[1].csv', ['[1].csv']],
  ])('the glob %s', async (glob, paths) => {
    lay('c/a.csv', 'c/b.jsonl', 'c/sub/c.csv', 'c/[1].csv');
    expect((await found(glob)).paths).toEqual(paths);
  });

  test.each([
    ['*', ['c/.threat.txt', 'c/a.txt']],
    ['**/*.txt', ['c/.hidden/threat.txt', 'c/.threat.txt', 'c/a.txt']],
  ])('the glob %s matches files whose names begin with a dot', async (glob, expected) => {
    lay('c/a.txt', 'c/.threat.txt', 'c/.hidden/threat.txt');
    const { configs, sources } = await listed(folder.at('c', glob));
    expect(sources.map(({ path }) => path)).toEqual(expected);
    const bounds = new CorpusBounds(configs);
    expect(sources.map((source) => bounds.pathOutside(source))).toEqual(expected.map(() => null));
  });

  test('corpora of one name are told apart, and a file that two of them hold is read once', async () => {
    lay('one/c/a.txt', 'two/c/a.txt', 'two/c/b.txt');
    const { paths, skipped } = await found('one/c', 'two/c', 'two/c/b.txt', 'two/c');
    expect(paths).toEqual(['c/a.txt', 'c (2)/a.txt', 'b.txt']);
    expect(skipped).toEqual({ 'files given twice': 3 });
  });

  test.each(['missing', 'missing/*.csv', 'empty', 'c/*.parquet'])('%s is a usage failure', async (path) => {
    lay('c/a.csv');
    mkdirSync(folder.at('empty'));
    await expect(found(path)).rejects.toMatchObject({ kind: 'usage' });
  });

  test('a folder that cannot be listed is no match of a glob', async () => {
    lay('c/a.csv', 'c/locked/b.csv');
    chmodSync(folder.at('c/locked'), 0);
    await asOrdinaryUser(folder.at(), async () => {
      await expect(found('c/**/nothing')).rejects.toMatchObject({ kind: 'usage' });
      expect((await found('c/**/*.csv')).paths).toEqual(['c/a.csv', 'c/locked']);
    }).finally(() => chmodSync(folder.at('c/locked'), 0o700));
  });

  test('files that systems leave behind are skipped by their names, counted and listed', async () => {
    const left = ['.DS_Store', 'x/Thumbs.db', 'z/._song.mp3', 'z/Desktop.ini', '~$report.docx'];
    for (const name of [...left, 'a.txt', 'z/DS_Store', 'my~$.txt']) lay(`c/${name}`);
    expect(await found('c')).toEqual({
      paths: ['c/a.txt', 'c/my~$.txt', 'c/z/DS_Store'],
      skipped: { 'system files': 5 },
      list: left.map((path) => ({ path: `c/${path}`, reason: 'system files' })),
    });
  });

  test('run directories and verdict stores are skipped as a whole, counted and listed', async () => {
    const path = (name: string): string => folder.at('c', name);
    lay('c/a.txt');
    expect((await guardsweep(['enqueue', path(''), '--out', path('runs'), '--quiet'])).status).toBe(0);
    const none = { key: null, recorded: async function* () {}, say: () => undefined, signal: NEVER };
    await (await VerdictStore.open(path('stored'), none))!.close();
    lay('c/not-a-run/run.json', 'c/not-a-store/store.json');
    const run = (await onlyRun(path('runs'))).slice(path('').length + 1);
    expect(await found('c')).toEqual({
      paths: ['c/a.txt', 'c/not-a-run/run.json', 'c/not-a-store/store.json'],
      skipped: { 'earlier runs': 1, 'verdict stores': 2 },
      list: [
        { path: 'c/runs/.store/', reason: 'verdict stores' },
        { path: `c/${run}/`, reason: 'earlier runs' },
        { path: 'c/stored/', reason: 'verdict stores' },
      ],
    });
    const message = expect.stringContaining('earlier runs') as string;
    await expect(found(`c/${run}`)).rejects.toMatchObject({ kind: 'usage', message });
  });
});
