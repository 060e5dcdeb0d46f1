import { hash } from 'node:crypto';
import { appendFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import { type Item, chooseLane } from '../../../src/domain/item.ts';
import {
  asked,
  codeOf,
  corpus,
  inspect,
  itemsOf,
  JPEG,
  listed,
  PNG,
  readItems,
  testFolder,
} from '../read-items.ts';

const MP3 = Buffer.from('ID3\x04\0\0');

describe('media files', () => {
  const home = testFolder();

  const write = (name: string, content: string | Buffer) => home.write(`uploads/${name}`, content);

  const read = (): Promise<Item[]> => readItems([corpus(home.at('uploads'))]);

  /** By path (and row), the code an item was settled with, else its caption. */
  async function told(): Promise<Record<string, string | null>> {
    return Object.fromEntries(
      (await read()).map(({ source, settled, request }) => [
        source.path.replace('uploads/', '') + (source.row === null ? '' : `#${source.row}`),
        settled?.error?.code ?? (request !== null && 'file' in request ? request.caption : 'a text'),
      ]),
    );
  }

  test('are items by reference, recognised by their content, in the lane of their kind', async () => {
    write('a/photo.bin', JPEG);
    write('clip.jpg', MP3);
    const [photo, clip] = await read();
    const hashed = { sha256: hash('sha256', JPEG), bytes: JPEG.length };
    const file = { corpus: 'uploads', path: 'a/photo.bin', ...hashed };
    expect(photo).toMatchObject({
      id: 'a/photo.bin',
      source: { row: null, ...hashed },
      request: { modality: 'image', file, caption: null },
    });
    expect([chooseLane(photo!), chooseLane(clip!)]).toEqual(['image', 'audio']);
    expect(photo!.contentSha256).toBe(contentSha256(photo!.request!));
  });

  test('of kinds that are not judged are items with an error, whatever their name says', async () => {
    const files: Record<string, string | Buffer> = {
      'doc.jpg': Buffer.from('d0cf11e0a1b11ae10000', 'hex'),
      'script.png': '#!/bin/sh\necho hello\n',
      'page.gif': '<html><body>hello</body></html>',
      'icon.ico': Buffer.from('00000100', 'hex'),
      'film.flv': 'FLV\x01\x05\0\0\0\t\0\0\0\0',
      'noise.jpg': Buffer.alloc(100, 1),
      'packed.jpg.gz': gzipSync(JPEG),
    };
    for (const [name, content] of Object.entries(files)) write(name, content);
    for (const name of ['empty.jpg', 'empty.wav']) write(name, '');
    const codes = Object.fromEntries(Object.keys(files).map((name) => [name, 'UNSUPPORTED_TYPE']));
    expect(await told()).toEqual({ ...codes, 'empty.jpg': 'EMPTY_CONTENT', 'empty.wav': 'EMPTY_CONTENT' });
  });

  test('beyond the bound are not read', async () => {
    write('large.jpg', Buffer.concat([JPEG, Buffer.alloc(1000)]));
    const [item] = await readItems([corpus(home.at('uploads'))], { itemBytes: 1000, mediaBytes: 1000 });
    expect(item!.source).toMatchObject({ sha256: null, bytes: JPEG.length + 1000 });
    expect(item!.settled).toMatchObject({ error: { code: 'ITEM_TOO_LARGE' } });
  });

  test('carry the text beside them, if it is one that can be sent', async () => {
    for (const name of ['plain', 'marked', 'blank', 'long', 'broken']) write(`${name}.jpg`, JPEG);
    write('plain.txt', 'a dog on a beach\n');
    write('marked.txt', '\ufeffgrüß');
    write('blank.txt', ' \n');
    write('long.txt', 'x'.repeat(65_537));
    write('broken.txt', Buffer.from([0x61, 0xff]));
    expect(await told()).toEqual({
      'plain.jpg': 'a dog on a beach\n',
      'marked.jpg': 'grüß',
      'blank.jpg': null,
      'long.jpg': 'ITEM_TOO_LARGE',
      'broken.jpg': 'INVALID_ENCODING',
    });
  });

  test('are one item each, as the texts beside them are, whatever becomes of either after they were found', async () => {
    const broken = Buffer.from('no picture');
    for (const name of ['a', 'b', 'c']) write(`${name}.jpg`, JPEG);
    for (const name of ['d', 'e']) write(`${name}.jpg`, broken);
    for (const name of ['a', 'b', 'c', 'd', 'e']) write(`${name}.txt`, 'beside');
    const { sources, configs } = await listed(home.at('uploads'));
    const read = async (): Promise<unknown[]> =>
      (await itemsOf(sources, configs)).map(({ seq, source }) => [seq, source.path]);
    const before = await read();
    expect(before).toHaveLength(7);
    write('a.jpg', broken);
    write('b.txt', 'something else');
    rmSync(home.at('uploads/c.txt'));
    write('d.jpg', JPEG);
    rmSync(home.at('uploads/e.jpg'));
    expect(await read()).toEqual(before);
  });

  describe('with a manifest', () => {
    test.each([
      ['manifest.csv', 'path,id,caption\na.jpg,first,"one, two"\n./sub/b.mp3,second,\nnote.txt,third,\n'],
      [
        'manifest.jsonl',
        '{"path":"a.jpg","id":"first","caption":"one, two"}\n{"path":"sub/b.mp3","id":"second"}\n{"path":"note.txt","id":"third","caption":null}\n',
      ],
    ])('%s have its ids and captions; those it does not list are items all the same', async (name, text) => {
      write(name, text);
      write('a.jpg', JPEG);
      write('a.txt', 'the manifest comes first');
      write('sub/b.mp3', MP3);
      write('sub/b.txt', 'said');
      write('note.txt', 'a note');
      write('unlisted.jpg', JPEG);
      const items = await read();
      const caption = ({ request }: Item) => (request && 'file' in request ? request.caption : '');
      expect(items.map((item) => [item.id, item.source.path, caption(item)])).toEqual([
        ['first', 'uploads/a.jpg', 'one, two\n\nthe manifest comes first'],
        ['third', 'uploads/note.txt', ''],
        ['second', 'uploads/sub/b.mp3', 'said'],
        ['unlisted.jpg', 'uploads/unlisted.jpg', null],
      ]);
      expect(items.map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
    });

    test('have an item for each of its rows that is about none of them', async () => {
      writeFileSync(home.at('secret.jpg'), JPEG);
      write('a.jpg', JPEG);
      symlinkSync(home.at('secret.jpg'), home.at('uploads', 'leak.jpg'));
      const outside = ['../secret.jpg', 'sub/../../secret.jpg', home.at('secret.jpg'), 'C:\\secret.jpg'];
      const unreadable = [...outside, '..\\secret.jpg', 'leak.jpg', 'gone.jpg'];
      write('manifest.csv', ['path', 'a.jpg', ...unreadable, 'a.jpg', '""', '"torn'].join('\n'));
      const items = await read();
      expect(items.map((item) => `${item.source.row} ${codeOf(item)}`)).toEqual([
        'null ok',
        ...unreadable.map((_, at) => `${at + 2} UNREADABLE_SOURCE`),
        ...[9, 10, 11].map((row) => `${row} MALFORMED_ROW`),
      ]);
      expect(JSON.stringify(items.map(({ settled }) => settled))).not.toContain('secret');
    });

    test('refuse a caption for a file that is no media by its name, and judge no other column', async () => {
      write('a.jpg', JPEG);
      write('note.txt', 'a note');
      write('manifest.csv', 'path,caption,comment\na.jpg,a caption,some words\nnote.txt,of a note,\n');
      const items = { 'a.jpg': 'a caption', 'manifest.csv#2': 'MALFORMED_ROW', 'note.txt': 'a text' };
      expect(await told()).toEqual(items);
      const { tables } = await inspect([corpus(home.at('uploads'))]);
      expect(tables).toMatchObject([{ path: 'uploads/manifest.csv', judged: [], not_judged: ['"comment"'] }]);
    });

    test('a table of that name without paths is a table', async () => {
      write('manifest.csv', 'id,text\n1,hello\n');
      expect(await told()).toEqual({ 'manifest.csv#1': 'a text' });
    });
  });

  test('are the same items, found in a folder, by a glob, or named', async () => {
    write('p.png', PNG);
    write('p.txt', 'beside');
    write('q.jpg', JPEG);
    write('sub/r.mp3', MP3);
    write('sub/r.TXT', 'said');
    write('manifest.csv', 'path,id,caption\nq.jpg,second,listed\nsub/r.mp3,deep,\n');
    const contents = async (...names: string[]): Promise<(string | null)[]> =>
      (await readItems(names.map((name) => corpus(home.at('uploads', name)))))
        .filter(({ source }) => /\.(?:png|jpg|mp3)$/.test(source.path))
        .map(({ contentSha256 }) => contentSha256)
        .sort();
    const all = await contents('.');
    expect(new Set(all).size).toBe(3);
    for (const given of ['**/*.{png,jpg,mp3}', '**', 'p.png q.jpg sub/r.mp3', '. p.png q.jpg sub/r.mp3'])
      expect(await contents(...given.split(' '))).toEqual(all);
  });

  test.each([
    ['p.jpg p.txt', ['image', 'beside']],
    ['*.txt', ['beside']],
    ['. p.txt', ['image', 'beside']],
    ['. p.jpg', ['image']],
  ])('a text that is asked for itself is an item, whatever it describes: %s', async (given, expected) => {
    write('p.jpg', JPEG);
    write('p.txt', 'beside');
    const configs = given.split(' ').map((name) => corpus(home.at('uploads', name)));
    expect((await readItems(configs)).map(asked)).toEqual(expected);
  });

  test('have changed when the file, the text beside it or the manifest has', async () => {
    write('a.jpg', JPEG);
    write('b.jpg', JPEG);
    write('b.txt', 'caption');
    write('manifest.csv', 'path,id\na.jpg,first\n');
    const { sources, configs } = await listed(home.at('uploads'));
    const codes = async () => (await itemsOf(sources, configs)).slice(0, 2).map(codeOf);
    expect(await codes()).toEqual(['ok', 'ok']);
    appendFileSync(home.at('uploads/b.txt'), '!');
    expect(await codes()).toEqual(['ok', 'SOURCE_CHANGED']);
    appendFileSync(home.at('uploads/manifest.csv'), 'b.jpg,second\n');
    expect(await codes()).toEqual(['SOURCE_CHANGED', 'SOURCE_CHANGED']);
  });
});
