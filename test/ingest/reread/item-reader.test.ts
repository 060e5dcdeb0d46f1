import { utimesSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS, type SourceConfig } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import { ItemReader, type RunSource } from '../../../src/ingest/reread/item-reader.ts';
import { random, seed } from '../../helpers/corpus.ts';
import { zipOf } from '../../helpers/documents.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { listed, itemsOf, NEVER, PNG, testFolder } from '../read-items.ts';

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

const user = (content: unknown) => ({ role: 'user', content });

const chat = (text: string, turns: number) => ({
  id: `c-${text.length}`,
  messages: Array.from({ length: turns }, (_, turn) => {
    return { role: ['user', 'assistant'][turn % 2], content: `${turn} ${text.slice(0, 40)}` };
  }),
});

const IMAGE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } };

const asText = (text: string) => ({ text });

/** Files of records, each with what its name ends with. */
const FILES: Readonly<Record<string, (rows: readonly string[]) => string | Buffer>> = {
  'a.csv': (rows) => `id,text\n${csv(rows, ',', '\n')}`,
  'named-delimiter.csv': (rows) => `sep=;\nid;text\n${csv(rows, ';', '\n')}`,
  'wide-header.csv': (rows) => `id,text,approve,reject\n${csv(rows, ',', '\n')}`,
  'bad-rows.csv': (rows) => `id,text\n${csv(rows, ',', '\n').replace('\n10,', '\n9.5,too,many\n\n10,')}`,
  'utf-16.csv': (rows) => Buffer.from(`\ufeffid,text\n${csv(rows, ',', '\n')}`, 'utf16le'),
  'a.csv.gz': (rows) => gzipSync(`id,text\n${csv(rows, ',', '\n')}`),
  'gaps.jsonl': (rows) => rows.map((text) => `${JSON.stringify({ text })}\r\n \n`).join('{"broken\n'),
  'pretty.json': (rows) => JSON.stringify(rows.map(asText), null, 2),
  'wrapped.json': (rows) => JSON.stringify({ version: 1, data: rows.map(asText), end: null }),
  'broken-element.json': (rows) => `[${rows.map((text) => JSON.stringify({ text })).join(',{"text":nul},')}]`,
  'chats.jsonl': (rows) => rows.map((text, at) => `${JSON.stringify(chat(text, 1 + (at % 5)))}\n`).join(''),
  'whatsapp.txt': (rows) => rows.map((text) => `31/12/2023, 21:15 - Ann: ${text}\n`).join(''),
  'telegram.json': (rows) =>
    JSON.stringify({ name: 'Team', messages: rows.map((text) => ({ date: '2024', from: 'Ann', text })) }),
  'pictures.jsonl': (rows) =>
    rows.map((text) => `${JSON.stringify({ messages: [user([{ type: 'text', text }, IMAGE])] })}\n`).join(''),
};

describe('reading single items again', () => {
  const folder = testFolder();

  async function judged(path: string, overrides: Partial<SourceConfig> = {}) {
    const { configs, sources, snapshots } = await listed(path, overrides);
    const items = await itemsOf(sources, configs, LIMITS);
    const of = (item: Item): RunSource => {
      const source = sources.find((each) => each.path === item.source.path)!;
      return { source, config: configs[0]!, snapshots, ...LIMITS };
    };
    return { items: items.filter(({ settled }) => settled === null), of };
  }

  type Judged = Awaited<ReturnType<typeof judged>>;

  /** That each item is found again, or, of many, the first, the last and some between. */
  async function expectEachFound({ items, of }: Judged, count = 25): Promise<void> {
    const reader = new ItemReader();
    const next = random(SEED);
    const some = Array.from({ length: count }, () => items[Math.floor(next() * items.length)]!);
    expect(items.length).toBeGreaterThanOrEqual(1);
    for (const item of items.length > count ? [...some, items[0]!, items.at(-1)!] : items) {
      const { source, part, turn, contentSha256: content_sha256 } = item;
      const again = await reader.read(of(item), { source, part, turn, content_sha256 }, NEVER);
      if (typeof again === 'string') throw new Error(`item ${item.seq} is ${again}`);
      // Items of a conversation name the first seq of their own reading.
      expect({ ...again.item.request, conversation: null }).toEqual({ ...item.request, conversation: null });
      expect(again.record).toContain(again.item);
    }
  }

  test.each(Object.entries(FILES))(
    'finds the items of %s without reading it in order',
    async (name, make) => {
      const path = folder.write(name, make(texts(random(SEED))));
      const all = await judged(path, { audit: name === 'chats.jsonl' ? 'every-turn' : 'final' });
      // The file has changed: it is not read in order if a record is not found at its offset.
      utimesSync(path, 1, 1);
      await expectEachFound(all);
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
    await expectEachFound(all, 3);
  });

  test.each<[string, string, Partial<SourceConfig>]>([
    ['of a named encoding', 'latin.csv', { encoding: 'windows-1252' }],
    ['of an encoding that is named for the folder', 'folder', { encoding: 'windows-1252' }],
    ['of a table without a header', 'plain.csv', { header: 'no', textColumns: ['2'] }],
  ])('finds the items %s', async (_what, name, overrides) => {
    const text = Array.from({ length: 300 }, (_, row) => `${row},caf\xe9 "${row}"\n`).join('');
    const header = name === 'plain.csv' ? '' : 'id,text\n';
    const path = name === 'folder' ? folder.at() : folder.at(name);
    const file = name === 'folder' ? folder.at('latin.csv') : path;
    const encoding = overrides.encoding === undefined ? 'utf8' : 'latin1';
    writeFileSync(file, Buffer.from(header + text, encoding));
    const all = await judged(path, overrides);
    expect(all.items).toHaveLength(300);
    utimesSync(file, 1, 1);
    await expectEachFound(all);
  });

  test('finds files that are one item, with their captions, and the rows of their manifest', async () => {
    folder.write('a.txt', 'a whole text');
    folder.write('b.png', PNG);
    folder.write('b.txt', 'a caption');
    folder.write('c.png', PNG);
    folder.write('manifest.csv', 'path,caption,note\nc.png,listed,\n,,a text of its own\n');
    const all = await judged(folder.at());
    const names = all.items.map(({ source }) => source.path.split('/')[1]);
    expect(names).toEqual(expect.arrayContaining(['a.txt', 'b.png', 'c.png']));
    utimesSync(folder.at('a.txt'), 1, 1);
    await expectEachFound(all);
  });

  const around = { text: 'around the records', data: [{ text: 'one' }, { text: 'two' }] };
  const inner = { 't.csv': 'id,text\n7,a cell\n8,"another, longer cell"\n', 'p.png': PNG };

  test.each([
    ['around.json', JSON.stringify(around), 'whole, data[1], data[2]'],
    ['a.zip', zipOf({ z: zipOf(inner), b: 'last words' }), 'z/t.csv row 1, z/t.csv row 2, z/p.png, b'],
  ])('reads %s in order, whose records cannot be found by their places', async (name, content, parts) => {
    const all = await judged(folder.write(name, content));
    expect(all.items.map(({ part }) => part ?? 'whole').join(', ')).toBe(parts);
    await expectEachFound(all);
  });
});
