import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { VerdictStore } from '../../../src/store/verdict-store.ts';
import { corpus, NEVER } from '../read-items.ts';

const NO_STORE = { key: null, recorded: async function* () {}, say: () => undefined, signal: NEVER };

/** A corpus with a verdict store in it, and the name of the folder of its data. */
async function corpusWithStore(): Promise<{ root: string; data: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'guardsweep-stores-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const root = join(folder, 'c');
  const store = await VerdictStore.open(join(root, '.store'), NO_STORE);
  await store!.close();
  const data = (await readdir(join(root, '.store'))).find((name) => name.startsWith('data-'))!;
  return { root, data };
}

async function found(root: string) {
  const { sources, skipped, skippedFiles } = await expandSources([corpus(root)], NEVER);
  return { paths: sources.map(({ path }) => path), skipped, list: [...skippedFiles] };
}

it('the files of a verdict store are passed over and listed, one by one', async () => {
  const { root, data } = await corpusWithStore();
  await writeFile(join(root, 'a.txt'), 'threat');
  const { paths, skipped, list } = await found(root);
  expect(paths).toEqual(['c/a.txt']);
  const files = [`${data}/closed.json`, `${data}/data.mdb`, `${data}/data.mdb-lock`, 'store.json'];
  expect(skipped).toEqual({ 'files of a verdict store': files.length });
  const reason = 'files of a verdict store';
  expect(list).toEqual(files.map((name) => ({ path: `c/.store/${name}`, reason })));
});

it('whatever else is in its folder is judged', async () => {
  const { root, data } = await corpusWithStore();
  const planted = [
    'data.mdb',
    'data-0000000g/data.mdb',
    `${data}/closed.json.tmp`,
    `${data}/deep/data.mdb`,
    `${data}/notes.txt`,
    'data-00000000/data.mdb',
    'data-00000000/data.mdb-lock',
    'store.json.tmp',
  ];
  for (const name of planted) {
    const path = join(root, '.store', name);
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, 'text\nthreat\n');
  }
  expect((await found(root)).paths).toEqual(planted.map((name) => `c/.store/${name}`).sort());
});

it('a folder with a file of that name is one like any other', async () => {
  const { root, data } = await corpusWithStore();
  await writeFile(join(root, '.store', 'store.json'), '{"kind":"another store"}');
  const { paths, skipped } = await found(root);
  expect(paths).toContain(`c/.store/${data}/data.mdb`);
  expect(skipped).toEqual({});
});
