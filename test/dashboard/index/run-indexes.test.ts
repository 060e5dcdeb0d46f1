import { hash } from 'node:crypto';
import { appendFile, chmod, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ITEM_QUERY } from '../../../src/dashboard/api/items.ts';
import type { RunIndex } from '../../../src/dashboard/index/run-index.ts';
import { RunIndexes } from '../../../src/dashboard/index/run-indexes.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { flipBit } from '../../helpers/run-directory.ts';
import { claim, finishedRun, newRun, signal } from '../../record/run-fixture.ts';
import { resultOf, shardOf } from '../../record/shards.ts';

const ALL = ITEM_QUERY.parse({ sort: 'corpus', limit: 500 });

function opened(): RunIndexes {
  const indexes = new RunIndexes();
  onTestFinished(() => indexes.close());
  return indexes;
}

function smallRun(count = 6) {
  const seqs = Array.from({ length: count }, (_, seq) => seq);
  return finishedRun([resultOf(shardOf(0, seqs))], { name: `r${count}` });
}

const indexOf = (indexes: RunIndexes, dir: string): Promise<RunIndex> =>
  indexes.use(dir, signal, async (index) => index);

const total = (indexes: RunIndexes, dir: string): Promise<number> =>
  indexes.use(dir, signal, async (index) => (await index.page(ALL, signal)).total);

describe('the index of a finished run', () => {
  it('answers a hundred queries at once, and those that are cancelled with the reason', async () => {
    const { dir } = await smallRun();
    const index = await indexOf(opened(), dir);
    const gone = new AbortController();
    const pages = Array.from({ length: 100 }, (_, number) =>
      index.page(ALL, number % 4 === 3 ? gone.signal : signal).then(({ total: items }) => items),
    );
    gone.abort(new Error('the client is gone'));
    const settled = await Promise.allSettled(pages);
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(75);
    for (const each of settled) {
      if (each.status === 'rejected') expect(String(each.reason)).toBe('Error: the client is gone');
      else expect(each.value).toBe(6);
    }
    expect((await index.page(ALL, signal)).total).toBe(6);
  });

  it('is refused when the outcomes are not those of the manifest, and built when they are again', async () => {
    const { dir } = await smallRun();
    const indexes = opened();
    const path = join(dir, 'verdicts.jsonl');
    const text = await readFile(path, 'utf8');
    await writeFile(path, text.replace('"decision":"allow"', '"decision":"block"'));
    await expect(total(indexes, dir)).rejects.toThrow('verdicts.jsonl does not have');
    await writeFile(path, `${text}\n`);
    await expect(total(indexes, dir)).rejects.toThrow(/^verdicts.jsonl has \d+ bytes, but had/);
    await writeFile(path, text);
    expect(await total(indexes, dir)).toBe(6);
  });

  it('leaves nothing behind', async () => {
    const { dir } = await smallRun();
    vi.stubEnv('TMPDIR', await temporaryFolder());
    onTestFinished(() => void vi.unstubAllEnvs());
    const indexes = new RunIndexes();
    await total(indexes, dir);
    const [folder] = await readdir(tmpdir());
    expect((await stat(join(tmpdir(), folder!))).mode & 0o777).toBe(0o700);
    await indexes.close();
    expect(await readdir(tmpdir())).toEqual([]);
    await expect(total(indexes, dir)).rejects.toThrow('the dashboard ends');
  });
});

describe('the stored index of a run', () => {
  /** The names of stored indexes, whose ends say what is in them. */
  async function storedIn(dir: string): Promise<string[]> {
    const names = (await readdir(join(dir, 'review'))).filter((name) => name.includes('index'));
    for (const name of names) {
      const sha256 = hash('sha256', await readFile(join(dir, 'review', name)));
      expect(name).toMatch(new RegExp(`^index-[0-9a-f]{64}-${sha256}\\.duckdb$`));
    }
    return names;
  }

  /** Has another server list the run; returns whether it made an index of its own. */
  async function isBuiltAgain(dir: string): Promise<boolean> {
    const folder = await temporaryFolder();
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await total(opened(), dir)).toBe(6);
    const [own] = await readdir(folder);
    return (await readdir(join(folder, own!))).includes('built');
  }

  it('serves the next server, beside the one that made it', async () => {
    const { dir } = await smallRun();
    expect(await isBuiltAgain(dir)).toBe(true);
    const stored = await storedIn(dir);
    expect(stored).toHaveLength(1);
    expect(await isBuiltAgain(dir)).toBe(false);
    expect(await storedIn(dir)).toEqual(stored);
    expect((await stat(join(dir, 'review', stored[0]!))).mode & 0o777).toBe(0o600);
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  const renamed = (path: string) => rename(path, path.replace(/[0-9a-f]{64}/, '0'.repeat(64)));
  it.each([
    ['is damaged', flipBit],
    ['was made from other files', renamed],
  ])('is made again when it %s', async (_, change) => {
    const { dir } = await smallRun();
    await isBuiltAgain(dir);
    const stored = await storedIn(dir);
    await change(join(dir, 'review', stored[0]!));
    expect(await isBuiltAgain(dir)).toBe(true);
    expect(await storedIn(dir)).toHaveLength(1);
    expect(await isBuiltAgain(dir)).toBe(false);
  });

  it('is neither used nor made where others can write', async () => {
    const { dir } = await smallRun();
    await chmod(dir, 0o770);
    expect(await isBuiltAgain(dir)).toBe(true);
    expect(await readdir(dir)).not.toContain('review');
    await chmod(dir, 0o700);
    await isBuiltAgain(dir);
    await chmod(dir, 0o770);
    expect(await isBuiltAgain(dir)).toBe(true);
  });
});

it('the least recently used index is closed, but not while it is in use', async () => {
  const [first, ...others] = await Promise.all([3, 4, 5, 6].map((count) => smallRun(count)));
  const indexes = opened();
  const before = await indexes.use(first!.dir, signal, async (index) => {
    for (const { dir } of others) await total(indexes, dir);
    expect((await index.page(ALL, signal)).total).toBe(3);
    return index;
  });
  await expect(before.page(ALL, signal)).rejects.toThrow();
  expect(await indexOf(indexes, first!.dir)).not.toBe(before);
});

it('a run that is not finished, or is judged again, has none', async () => {
  const indexes = opened();
  await expect(total(indexes, (await newRun()).dir)).rejects.toThrow('the run is not finished');
  const { dir, ...run } = await smallRun();
  expect(await total(indexes, dir)).toBe(6);
  await (await claim({ dir, ...run })).close();
  await expect(total(indexes, dir)).rejects.toThrow('the run is not finished');
});

it('reviews of other processes are found', async () => {
  const { dir } = await smallRun();
  const [mine, other] = [await indexOf(opened(), dir), await indexOf(opened(), dir)];
  const [line] = await other.lines.read([3]);
  await other.reviews.add(dir, line!, { decision: 'allow', categories: ['hate'], note: 'a joke' });
  const open = ITEM_QUERY.parse({ filter: { review: 'overturned' } });
  expect((await mine.page(open, signal)).rows).toMatchObject([
    { seq: 3, review: { decision: 'allow', agrees: false } },
  ]);
  await other.reviews.add(dir, line!, { decision: null, categories: null, note: '' });
  expect((await mine.page(open, signal)).rows).toEqual([]);
  expect((await mine.item(3, signal))!.reviews).toMatchObject([
    { decision: 'allow', note: 'a joke', categories: ['hate'] },
    { decision: null },
  ]);
  const path = join(dirname(dir), '.decisions.jsonl');
  await appendFile(path, 'torn');
  expect((await mine.page(open, signal)).rows).toEqual([]);
  await rm(path);
  await expect(mine.page(open, signal)).rejects.toThrow('.decisions.jsonl has become shorter');
});
