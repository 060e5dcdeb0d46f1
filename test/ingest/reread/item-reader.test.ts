import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, type SourceConfig } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import { ItemReader, type RunSource, type WantedItem } from '../../../src/ingest/reread/item-reader.ts';
import { expandSources } from '../../../src/ingest/discover/expand.ts';
import { SourceSnapshots } from '../../../src/ingest/sources/source-snapshots.ts';
import { random, seed } from '../../helpers/corpus.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { pngFile } from '../../helpers/png.ts';
import { NEVER, corpus, itemsOf, testFolder } from '../read-items.ts';

const SEED = seed();
const LIMITS = { itemBytes: 1024 * 1024, mediaBytes: 1024 * 1024, unpack: DEFAULT_LIMITS.unpack };
const ROWS = 400;

const texts = (next: () => number): string[] =>
  Array.from({ length: ROWS }, (_, index) => {
    const filler = 'überall → 文字 🙂 '.repeat(Math.floor(next() * next() * 120));
    return `${index} ${filler}${next() < 0.1 ? '\n"quoted, with a line break"' : ''}`;
  });

const csv = (rows: readonly string[], delimiter: string, end: string): string =>
  rows.map((text, index) => `${index}${delimiter}"${text.replaceAll('"', '""')}"${end}`).join('');

const chat = (text: string, turns: number) => ({
  id: `c-${text.length}`,
  messages: Array.from({ length: turns }, (_, turn) => ({
    role: turn % 2 === 0 ? 'user' : 'assistant',
    content: `${turn} ${text.slice(0, 40)}`,
  })),
});

const PNG = pngFile({ width: 1, height: 1, depth: 8, colourType: 2 }, Buffer.from('x'));
const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } };

/** Files of records, each with what its name ends with. */
const FILES: Readonly<Record<string, (rows: readonly string[]) => string | Buffer>> = {
  'a.csv': (rows) => `id,text\n${csv(rows, ',', '\n')}`,
  'named-delimiter.csv': (rows) => `sep=;\nid;text\n${csv(rows, ';', '\n')}`,
  'wide-header.csv': (rows) => `id,text,approve,reject\n${csv(rows, ',', '\n')}`,
  'bad-rows.csv': (rows) => `id,text\n${csv(rows, ',', '\n').replace('\n10,', '\n9.5,too,many\n\n10,')}`,
  'utf-16.csv': (rows) => Buffer.from(`\ufeffid,text\n${csv(rows, ',', '\n')}`, 'utf16le'),
  'a.csv.gz': (rows) => gzipSync(`id,text\n${csv(rows, ',', '\n')}`),
  'gaps.jsonl': (rows) => rows.map((text) => `${JSON.stringify({ text })}\r\n \n`).join('{"broken\n'),
  'pretty.json': (rows) =>
    JSON.stringify(
      rows.map((text) => ({ text })),
      null,
      2,
    ),
  'wrapped.json': (rows) => JSON.stringify({ version: 1, data: rows.map((text) => ({ text })), end: null }),
  'broken-element.json': (rows) => `[${rows.map((text) => JSON.stringify({ text })).join(',{"text":nul},')}]`,
  'chats.jsonl': (rows) => rows.map((text, at) => `${JSON.stringify(chat(text, 1 + (at % 5)))}\n`).join(''),
  'whatsapp.txt': (rows) => rows.map((text) => `31/12/2023, 21:15 - Ann: ${text}\n`).join(''),
  'telegram.json': (rows) =>
    JSON.stringify({ name: 'Team', messages: rows.map((text) => ({ date: '2024', from: 'Ann', text })) }),
  'pictures.jsonl': (rows) =>
    rows
      .map((text) => ({ messages: [{ role: 'user', content: [{ type: 'text', text }, IMAGE] }] }))
      .map((record) => `${JSON.stringify(record)}\n`)
      .join(''),
};

describe('reading single items again', () => {
  const folder = testFolder();

  async function judged(path: string, overrides: Partial<SourceConfig> = {}) {
    const config = corpus(path, overrides);
    const { sources } = await expandSources([config], NEVER);
    const items = await itemsOf(sources, [config], LIMITS.itemBytes, LIMITS.mediaBytes);
    const snapshots = new SourceSnapshots(sources, [config]);
    const of = (item: Item): RunSource => {
      const source = sources.find((each) => each.path === item.source.path)!;
      return { source, config, snapshots, ...LIMITS };
    };
    return { items: items.filter(({ settled }) => settled === null), of };
  }

  const wanted = ({ source, part, turn, contentSha256 }: Item): WantedItem => ({
    ...{ source, part, turn },
    content_sha256: contentSha256,
  });

  async function expectEachFound(
    { items, of }: Awaited<ReturnType<typeof judged>>,
    next: () => number,
  ): Promise<void> {
    const reader = new ItemReader();
    expect(items.length).toBeGreaterThanOrEqual(1);
    const some = Array.from({ length: 25 }, () => items[Math.floor(next() * items.length)]!);
    for (const item of [...some, items[0]!, items.at(-1)!]) {
      const again = await reader.read(of(item), wanted(item), NEVER);
      if (typeof again === 'string') throw new Error(`item ${item.seq} is ${again}`);
      // Items of a conversation name the first seq of their own reading.
      expect({ ...again.item.request, conversation: null }).toEqual({ ...item.request, conversation: null });
      expect(again.record).toContain(again.item);
    }
  }

  test.each(Object.entries(FILES))(
    'finds the items of %s without reading it in order',
    async (name, make) => {
      const next = random(SEED);
      const path = folder.write(name, make(texts(next)));
      const all = await judged(path, { audit: name === 'chats.jsonl' ? 'every-turn' : 'final' });
      // The file has changed: it is not read in order if a record is not found at its offset.
      utimesSync(path, 1, 1);
      await expectEachFound(all, next);
    },
  );

  test('finds the rows of a Parquet file by their row groups', async () => {
    const path = folder.at('a.parquet');
    await duckdb(
      `COPY (SELECT range AS id, 'text ' || range AS text FROM range(10000))
       TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`,
    );
    const all = await judged(path);
    expect(all.items).toHaveLength(10_000);
    utimesSync(path, 1, 1);
    await expectEachFound(all, random(SEED));
  });

  test.each<[string, string, Partial<SourceConfig>]>([
    ['of a named encoding', 'latin.csv', { encoding: 'windows-1252' }],
    ['of an encoding that is named for the folder', 'folder', { encoding: 'windows-1252' }],
    ['of a table without a header', 'plain.csv', { header: 'no', textColumns: ['2'] }],
  ])('finds the items %s', async (_what, name, overrides) => {
    const text = Array.from({ length: 300 }, (_, row) => `${row},caf\xe9 "${row}"\n`).join('');
    const header = name === 'plain.csv' ? '' : 'id,text\n';
    const path = name === 'folder' ? folder.path : folder.at(name);
    const file = name === 'folder' ? folder.at('latin.csv') : path;
    const encoding = overrides.encoding === undefined ? 'utf8' : 'latin1';
    writeFileSync(file, Buffer.from(header + text, encoding));
    const all = await judged(path, overrides);
    expect(all.items).toHaveLength(300);
    utimesSync(file, 1, 1);
    await expectEachFound(all, random(SEED));
  });

  test('finds files that are one item, with their captions, and the rows of their manifest', async () => {
    folder.write('a.txt', 'a whole text');
    folder.write('b.png', PNG);
    folder.write('b.txt', 'a caption');
    folder.write('c.png', PNG);
    folder.write('manifest.csv', 'path,caption,note\nc.png,listed,\n,,a text of its own\n');
    const all = await judged(folder.path);
    expect(all.items.map(({ source }) => source.path.split('/')[1])).toEqual(
      expect.arrayContaining(['a.txt', 'b.png', 'c.png']),
    );
    utimesSync(folder.at('a.txt'), 1, 1);
    await expectEachFound(all, random(SEED));
  });

  test('reads a file in order whose records cannot be found by their places', async () => {
    const wrapped = { text: 'around the records', data: [{ text: 'one' }, { text: 'two' }] };
    const all = await judged(folder.write('around.json', JSON.stringify(wrapped)));
    expect(all.items).toHaveLength(3);
    await expectEachFound(all, random(SEED));
  });

  test('finds nothing in a file whose content changed', async () => {
    const path = folder.at('a.csv');
    writeFileSync(path, 'id,text\n1,one\n2,two\n');
    const { items, of } = await judged(path);
    writeFileSync(path, 'id,text\n1,one\n2,TWO\n');
    const reader = new ItemReader();
    expect(await reader.read(of(items[0]!), wanted(items[0]!), NEVER)).toMatchObject({ item: {} });
    expect(await reader.read(of(items[1]!), wanted(items[1]!), NEVER)).toBe('changed');
    rmSync(path);
    expect(await reader.read(of(items[0]!), wanted(items[0]!), NEVER)).toBe('unreadable');
  });
});
