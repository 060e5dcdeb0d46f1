import { chmodSync, mkdirSync, symlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { CorpusBounds } from '../../../src/ingest/discover/within-corpora.ts';
import { NEVER, corpus, testFolder } from '../read-items.ts';
import { asOrdinaryUser } from '../../helpers/ordinary-user.ts';

describe('expanding corpora', () => {
  const folder = testFolder();

  function lay(...paths: string[]): void {
    for (const path of paths) folder.write(path, 'x');
  }

  async function pathsOf(...given: string[]) {
    const configs = given.map((path) => corpus(folder.at(path)));
    const { sources, skipped } = await expandSources(configs, NEVER);
    expect(sources.map(({ source }) => source)).toEqual(sources.map((_, index) => index));
    return { paths: sources.map(({ path }) => path), skipped };
  }

  test('a folder gives its files in bytewise order of their paths', async () => {
    const sorted = ['10.txt', '9.txt', 'Z.txt', 'a-b/1.txt', 'a.txt', 'a/z.csv', 'é.txt'].map(
      (name) => `c/${name}`,
    );
    lay(...sorted.toReversed());
    expect((await pathsOf('c')).paths).toEqual(sorted);
  });

  test('links are followed inside the corpus only, and nothing is found twice', async () => {
    lay('c/a.txt', 'c/sub/b.txt', 'outside/secret.txt');
    symlinkSync(folder.at('outside/secret.txt'), folder.at('c/leak.txt'));
    symlinkSync(folder.at('outside'), folder.at('c/leak'));
    symlinkSync(folder.at('c'), folder.at('c/sub/circle'));
    symlinkSync('a.txt', folder.at('c/same.txt'));
    symlinkSync('nowhere', folder.at('c/broken.txt'));
    const { paths, skipped } = await pathsOf('c');
    expect(paths).toEqual(['c/a.txt', 'c/sub/b.txt']);
    expect(skipped).toEqual({
      'links out of the corpus': 2,
      'links within the corpus': 2,
      'broken links': 1,
    });
  });

  test('globs', async () => {
    lay('c/a.csv', 'c/b.jsonl', 'c/sub/c.csv', 'c/[1].csv');
    expect((await pathsOf('c/*.csv')).paths).toEqual(['c/[1].csv', 'c/a.csv']);
    const all = ['c/[1].csv', 'c/a.csv', 'c/b.jsonl', 'c/sub/c.csv'];
    expect((await pathsOf('c/**/*.{csv,jsonl}')).paths).toEqual(all);
    expect((await pathsOf('c/[1].csv')).paths).toEqual(['[1].csv']);
  });

  test.each([
    ['*', ['c/.threat.txt', 'c/a.txt']],
    ['**/*.txt', ['c/.hidden/threat.txt', 'c/.threat.txt', 'c/a.txt']],
  ])('the glob %s matches files whose names begin with a dot', async (glob, expected) => {
    lay('c/a.txt', 'c/.threat.txt', 'c/.hidden/threat.txt');
    const config = corpus(folder.at('c', glob));
    const { sources } = await expandSources([config], NEVER);
    expect(sources.map(({ path }) => path)).toEqual(expected);
    const bounds = new CorpusBounds([config]);
    expect(sources.map((source) => bounds.pathOutside(source))).toEqual(expected.map(() => null));
  });

  test('corpora of one name are told apart, and a file that two of them hold is read once', async () => {
    lay('one/c/a.txt', 'two/c/a.txt', 'two/c/b.txt');
    const { paths, skipped } = await pathsOf('one/c', 'two/c', 'two/c/b.txt', 'two/c');
    expect(paths).toEqual(['c/a.txt', 'c (2)/a.txt', 'b.txt']);
    expect(skipped).toEqual({ 'files given twice': 3 });
  });

  test.each(['missing', 'missing/*.csv', 'empty', 'c/*.parquet'])('%s is a usage failure', async (path) => {
    lay('c/a.csv');
    mkdirSync(folder.at('empty'));
    await expect(pathsOf(path)).rejects.toMatchObject({ kind: 'usage' });
  });

  test('a folder that cannot be listed is no match of a glob', async () => {
    lay('c/a.csv', 'c/locked/b.csv');
    chmodSync(folder.at('c/locked'), 0);
    try {
      await asOrdinaryUser(folder.path, async () => {
        await expect(pathsOf('c/**/nothing')).rejects.toMatchObject({ kind: 'usage' });
        expect((await pathsOf('c/**/*.csv')).paths).toEqual(['c/a.csv', 'c/locked']);
      });
    } finally {
      chmodSync(folder.at('c/locked'), 0o700);
    }
  });
});
