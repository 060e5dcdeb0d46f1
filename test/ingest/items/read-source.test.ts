import { hash } from 'node:crypto';
import { appendFileSync, chmodSync, unlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../../../src/config/run-config.ts';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import type { Item } from '../../../src/domain/item.ts';
import type { SourceSnapshot } from '../../../src/ingest/sources/sources-file.ts';
import { SourceSnapshots } from '../../../src/ingest/sources/source-snapshots.ts';
import { readSource } from '../../../src/ingest/items/read-source.ts';
import { codeOf, corpus, listed, NEVER, readItems, testFolder } from '../read-items.ts';
import { asOrdinaryUser } from '../../helpers/ordinary-user.ts';

const MEBIBYTE = 2 ** 20;

describe('reading a source', () => {
  const home = testFolder();
  const { write } = home;

  const takeSnapshot = async (path: string): Promise<SourceSnapshot> => (await listed(path)).sources[0]!;

  async function* batches(source: SourceSnapshot, itemBytes = MEBIBYTE): AsyncGenerator<readonly Item[]> {
    const configs = [corpus(source.absolute)];
    const snapshots = new SourceSnapshots([source], configs);
    const options = { ...DEFAULT_LIMITS, itemBytes, mediaBytes: MEBIBYTE, snapshots, signal: NEVER };
    yield* readSource(source, configs[0]!, 0, options);
  }

  async function read(source: SourceSnapshot, between: () => void = () => {}): Promise<Item[]> {
    const items: Item[] = [];
    for await (const some of batches(source)) {
      items.push(...some);
      between();
    }
    return items;
  }

  const codes = (items: readonly Item[]) => items.map(codeOf);

  test('a file that is one text carries its own hash and size', async () => {
    const bytes = Buffer.from('\ufeffA text.\n');
    const [item] = await read(await takeSnapshot(write('a.txt', bytes)));
    expect(item!.source).toEqual({
      path: 'a.txt',
      row: null,
      line: null,
      sha256: hash('sha256', bytes),
      bytes: bytes.length,
      offset: null,
      length: null,
    });
    expect(item!.request).toMatchObject({ requestType: 'prompt', text: 'A text.\n' });
    expect(item!.contentSha256).toBe(contentSha256(item!.request!));
  });

  test('a text beyond the bound is not held, but its file is hashed', async () => {
    const bytes = Buffer.alloc(3 * MEBIBYTE, 'a text ');
    const [item] = await read(await takeSnapshot(write('a.txt', bytes)));
    expect(item!.settled!.error!.code).toBe('ITEM_TOO_LARGE');
    expect(item!.source.sha256).toBe(hash('sha256', bytes));
  });

  test('a file that changed before it is read is one item, one that changes meanwhile has one more', async () => {
    const path = write('a.csv', `text\n${'a row of words\n'.repeat(10_000)}`);
    const source = await takeSnapshot(path);
    const items = await read(source, () => appendFileSync(path, 'more\n'));
    expect(codes(items.slice(-2))).toEqual(['ok', 'SOURCE_CHANGED']);
    expect(codes(await read(source))).toEqual(['SOURCE_CHANGED']);
    const text = await takeSnapshot(write('a.txt', 'before'));
    write('a.txt', 'after it');
    expect(codes(await read(text))).toEqual(['SOURCE_CHANGED']);
  });

  test('a file that cannot be read is one item', async () => {
    const gone = await takeSnapshot(write('gone.csv', 'text\n'));
    unlinkSync(gone.absolute);
    expect(codes(await read(gone))).toEqual(['UNREADABLE_SOURCE']);
    expect(codes(await read({ ...gone, absolute: home.at() }))).toEqual(['SOURCE_CHANGED']);
    const locked = await takeSnapshot(write('locked.csv', 'text\nx\n'));
    chmodSync(locked.absolute, 0);
    expect(codes(await asOrdinaryUser(home.at(), () => read(locked)))).toEqual(['UNREADABLE_SOURCE']);
  });

  test('gzip: several members, and damage, which is one item after rows before it', async () => {
    const members = [gzipSync('text\none\n'), gzipSync('two\n'), Buffer.alloc(512)];
    const whole = await takeSnapshot(write('a.csv.gz', Buffer.concat(members)));
    expect(codes(await read(whole))).toEqual(['ok', 'ok']);
    const only = await takeSnapshot(write('b.csv.gz', Buffer.of(0x1f, 0x8b, 0xff, 0xff)));
    expect(codes(await read(only))).toEqual(['UNREADABLE_SOURCE']);
    const rows = Array.from({ length: 20_000 }, (_, row) => `text ${(row * 7919) % 10_007}\n`);
    const damaged = Buffer.concat([gzipSync(`text\n${rows.join('')}`), Buffer.from('garbage')]);
    const result = codes(await read(await takeSnapshot(write('c.csv.gz', damaged))));
    expect(result.length).toBeGreaterThan(1000);
    expect(result.findIndex((code) => code !== 'ok')).toBe(result.length - 1);
    expect(result.at(-1)).toBe('UNREADABLE_SOURCE');
  });

  test('a gzip bomb streams in flat memory', async () => {
    const bomb = (filler: string) => gzipSync(Buffer.alloc(100 * MEBIBYTE, filler));
    const source = await takeSnapshot(write('bomb.jsonl.gz', bomb(`${' '.repeat(1023)}\n`)));
    const before = process.memoryUsage.rss();
    expect(await read(source)).toEqual([]);
    const one = await takeSnapshot(write('line.jsonl.gz', bomb('x')));
    expect(codes(await read(one))).toEqual(['ITEM_TOO_LARGE']);
    expect(process.memoryUsage.rss() - before).toBeLessThan(90 * MEBIBYTE);
  });

  test.each([
    ['a.csv', 'id,text\n1,"never closed\n', '2,an ordinary row of text\n'],
    ['b.csv', 'text\n"never closed\n', 'an ordinary line of text\n'],
  ])('what follows a record that is not closed streams: %s', async (name, before, record) => {
    const count = Math.ceil((10 * MEBIBYTE) / record.length);
    const source = await takeSnapshot(write(name, before + record.repeat(count)));
    const start = process.memoryUsage.rss();
    let most = start;
    const found: Record<string, number> = {};
    for await (const items of batches(source, 16 * MEBIBYTE)) {
      for (const code of codes(items)) found[code] = (found[code] ?? 0) + 1;
      most = Math.max(most, process.memoryUsage.rss());
    }
    expect(found).toEqual({ MALFORMED_ROW: 1, ok: count });
    expect(most - start).toBeLessThan(120 * MEBIBYTE);
  });

  test('turns are refused from where all of them would submit more than 1 GB', async () => {
    const turn = { role: 'user', content: 'x'.repeat(29_988) };
    const path = home.jsonl({ messages: new Array(280).fill(turn) });
    const items = await readItems([corpus(path, { audit: 'every-turn' })]);
    // A turn takes 30,000 bytes, and turn n sends n of them.
    const judged = items.filter(({ settled }) => settled === null).length;
    expect(30_000 * ((judged * (judged + 1)) / 2)).toBeLessThanOrEqual(2 ** 30);
    expect(30_000 * (((judged + 1) * (judged + 2)) / 2)).toBeGreaterThan(2 ** 30);
    expect(codes(items.slice(judged))).toEqual(new Array<string>(280 - judged).fill('ITEM_TOO_LARGE'));
    expect(codes(await readItems([corpus(path)]))).toEqual(['ok']);
  });

  test('a conversation longer than the head is told by how it begins', async () => {
    const long = 'a [long] "text" '.repeat(30_000);
    const pairs = Object.entries({ user: long, assistant: 'Yes.' });
    const turns = pairs.map(([role, content]) => ({ role, content }));
    const arrays = [turns, pairs].map((list, at) => write(`${at}.json`, JSON.stringify(list)));
    const files = [...arrays, home.jsonl(pairs, turns)];
    for (const { request } of await readItems(files.map((path) => corpus(path))))
      expect(request).toMatchObject({ messages: pairs });
    const records = home.jsonl([{ text: long }, { text: 'short' }]);
    expect(codes(await readItems([corpus(records)]))).toEqual(['ok', 'ok']);
  });

  test('no word of any content is in what is said of bad rows', async () => {
    const word = 'zanzibar';
    const csv = `id,text\n1,"${word}\n2,${word},${word}\n3,a "${word}" b\n4,"${word}" x\n${word}\n`;
    const jsonl = [
      ...[`{"text":"${word}`, `{"${word}":"${word}","n":1}`, `{"text":{"${word}":1}}`, `["${word}"]`],
      ...[`{"messages":[{"role":"${word}","content":"${word}"}]}`, `{"messages":[{"content":"${word}"}]}`],
      `{"text":"${word}","id":null}`,
    ].join('\n');
    const files = [
      ...[write('a.csv', csv), write('b.jsonl', jsonl), write('c.json', `[{"text":"${word}"`)],
      write('d.csv', `${word},b\n${word},c\n`),
      write('e.csv', Buffer.from(`text\n${word}\xff\nx\ny\n`, 'latin1')),
    ];
    const items = await readItems(files.map((path) => corpus(path)));
    const bad = items.filter(({ settled }) => settled !== null);
    expect(bad.length).toBeGreaterThan(10);
    expect(JSON.stringify(bad)).not.toContain(word);
  });
});
