import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { VerdictStore } from '../../../src/store/verdict-store.ts';
import { guardsweep, temporaryFolder } from '../../helpers/cli.ts';
import { onlyRun } from '../../helpers/run-directory.ts';
import { corpus, NEVER } from '../read-items.ts';

let root: string;

beforeEach(async () => {
  root = join(await temporaryFolder(), 'c');
  mkdirSync(root);
});

function lay(path: string, content: string | Buffer = 'threat'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

async function found(path = root) {
  const { sources, skipped, skippedFiles } = await expandSources([corpus(path)], NEVER);
  return { paths: sources.map((source) => source.path), skipped, list: [...skippedFiles] };
}

test('files that systems leave behind are skipped by their names, counted and listed', async () => {
  const left = ['.DS_Store', 'x/Thumbs.db', 'z/._song.mp3', 'z/Desktop.ini', '~$report.docx'];
  for (const name of [...left, 'a.txt', 'z/DS_Store', 'my~$.txt']) lay(name);
  const { paths, skipped, list } = await found();
  expect(paths).toEqual(['c/a.txt', 'c/my~$.txt', 'c/z/DS_Store']);
  expect(skipped).toEqual({ 'system files': 5 });
  expect(list).toEqual(left.map((path) => ({ path: `c/${path}`, reason: 'system files' })));
});

test('run directories and verdict stores are skipped as a whole, counted and listed', async () => {
  lay('a.txt');
  const out = join(root, 'runs');
  expect((await guardsweep(['enqueue', root, '--out', out, '--quiet'])).status).toBe(0);
  const none = { key: null, recorded: async function* () {}, say: () => undefined, signal: NEVER };
  await (await VerdictStore.open(join(root, 'stored'), none))!.close();
  lay('not-a-run/run.json');
  lay('not-a-store/store.json');
  const run = (await onlyRun(out)).slice(out.length + 1);
  const { paths, skipped, list } = await found();
  expect(paths).toEqual(['c/a.txt', 'c/not-a-run/run.json', 'c/not-a-store/store.json']);
  expect(skipped).toEqual({ 'earlier runs': 1, 'verdict stores': 2 });
  expect(list).toEqual([
    { path: 'c/runs/.store/', reason: 'verdict stores' },
    { path: `c/runs/${run}/`, reason: 'earlier runs' },
    { path: 'c/stored/', reason: 'verdict stores' },
  ]);
  await expect(found(join(out, run))).rejects.toMatchObject({
    kind: 'usage',
    message: expect.stringContaining('earlier runs') as string,
  });
});
