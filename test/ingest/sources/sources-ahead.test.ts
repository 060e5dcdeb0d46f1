import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Item } from '../../../src/domain/item.ts';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { readSource } from '../../../src/ingest/items/read-source.ts';
import type { FrozenSource } from '../../../src/ingest/plan/plan-line.ts';
import { FrozenSources } from '../../../src/ingest/sources/frozen-sources.ts';
import { SourcesAhead } from '../../../src/ingest/sources/sources-ahead.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { corpus, itemsOf, NEVER } from '../read-items.ts';

const FILES = 300;

let folder: string;
let root: string;
let ahead: SourcesAhead | null = null;

beforeEach(async () => {
  folder = await temporaryFolder();
  root = join(folder, 'c');
  for (const name of ['a', 'b']) mkdirSync(join(root, name), { recursive: true });
  for (let at = 0; at < FILES; at++)
    writeFileSync(join(root, at % 2 ? 'a' : 'b', `${at}.txt`), `text ${at} é\n`);
});

afterEach(() => ahead?.close());

const frozen = async (): Promise<readonly FrozenSource[]> =>
  (await expandSources([corpus(root)], NEVER)).sources;

async function itemsAhead(sources: readonly FrozenSource[]): Promise<Item[]> {
  const configs = [corpus(root)];
  ahead = new SourcesAhead(sources);
  const options = {
    frozen: new FrozenSources(sources, configs),
    ...{ itemBytes: 10_000, mediaBytes: 10_000, signal: NEVER, ahead },
  };
  const items: Item[] = [];
  for (const source of sources)
    for await (const some of readSource(source, configs[0]!, items.length, options)) items.push(...some);
  return items;
}

test('files that are read ahead make the same items in the same order', async () => {
  writeFileSync(join(root, 'a/latin.txt'), Buffer.from('caf\xe9 cr\xe8me br\xfbl\xe9e\n', 'latin1'));
  writeFileSync(join(root, 'a/table.csv'), 'id,text\n7,one\n8,two\n');
  writeFileSync(join(root, 'a/empty.txt'), '');
  writeFileSync(join(root, 'a/zeros'), Buffer.alloc(100));
  writeFileSync(join(root, 'b/large.txt'), 'x'.repeat(200_000));
  writeFileSync(join(root, 'b/page'), '<!doctype html><p>hello</p>');
  symlinkSync('1.txt', join(root, 'a/link.txt'));
  const sources = await frozen();
  const items = await itemsAhead(sources);
  expect(items.length).toBeGreaterThan(FILES);
  expect(items).toEqual(await itemsOf(sources, [corpus(root)], 10_000, 10_000));
});

test('small texts of a folder are read ahead, whatever others are between them', async () => {
  writeFileSync(join(root, 'a/photo.jpg'), 'x');
  const sources = await frozen();
  ahead = new SourcesAhead(sources);
  const read = [];
  for (const source of sources) if ((await ahead.take(source)) !== null) read.push(source.path);
  expect(read).toEqual(sources.map(({ path }) => path).filter((path) => path.endsWith('.txt')));
});

test('a file that has changed is not taken from what was read ahead', async () => {
  const sources = await frozen();
  writeFileSync(join(root, 'b/10.txt'), 'another text');
  const changed = (await itemsAhead(sources)).filter(({ settled }) => settled !== null);
  expect(changed.map(({ id, settled }) => [id, settled?.error?.code])).toEqual([
    ['b/10.txt', 'SOURCE_CHANGED'],
  ]);
});

test('a link to something outside in the place of a folder is not followed', async () => {
  const sources = await frozen();
  // The very same files, so that only their place tells.
  renameSync(join(root, 'a'), join(folder, 'away'));
  symlinkSync('../away', join(root, 'a'));
  const items = await itemsAhead(sources);
  const codes = items.map(({ source, settled }) => [source.path, settled?.error?.code ?? 'ok']);
  expect(codes).toEqual(
    sources.map(({ path }) => [path, path.startsWith('c/a/') ? 'UNREADABLE_SOURCE' : 'ok']),
  );
});
