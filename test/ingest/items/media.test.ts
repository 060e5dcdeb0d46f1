import { hash } from 'node:crypto';
import { appendFileSync, rmSync, symlinkSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { contentSha256 } from '../../../src/domain/content-hash.ts';
import { type Item, chooseLane } from '../../../src/domain/item.ts';
import { writeFiles } from '../../helpers/cli.ts';
import { asked, codeOf, corpus, inspect, itemsOf, listed, readItems } from '../read-items.ts';
import { JPEG, PNG, testFolder } from '../read-items.ts';

const MP3 = Buffer.from('ID3\x04\0\0');

describe('media files', () => {
  const home = testFolder();

  const write = (files: Readonly<Record<string, string | Buffer>>) => writeFiles(home.at('uploads'), files);
  /** The same content under each of these names. */
  const all = (content: string | Buffer, ...names: string[]) =>
    Object.fromEntries(names.map((name) => [name, content]));

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
    await write({ 'a/photo.bin': JPEG, 'clip.jpg': MP3 });
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
    const files = {
      'doc.jpg': Buffer.from('d0cf11e0a1b11ae10000', 'hex'),
      'script.png': '#!/bin/sh\necho hello\n',
      'page.gif': '<html><body>hello</body></html>',
      'icon.ico': Buffer.from('00000100', 'hex'),
      'film.flv': 'FLV\x01\x05\0\0\0\t\0\0\0\0',
      'noise.jpg': Buffer.alloc(100, 1),
      'packed.jpg.gz': gzipSync(JPEG),
    };
    const empty = ['empty.jpg', 'empty.wav'];
    await write({ ...files, ...all('', ...empty) });
    const codes = all('UNSUPPORTED_TYPE', ...Object.keys(files));
    expect(await told()).toEqual({ ...codes, ...all('EMPTY_CONTENT', ...empty) });
  });

  test('beyond the bound are not read', async () => {
    await write({ 'large.jpg': Buffer.concat([JPEG, Buffer.alloc(1000)]) });
    const [item] = await readItems([corpus(home.at('uploads'))], { itemBytes: 1000, mediaBytes: 1000 });
    expect(item!.source).toMatchObject({ sha256: null, bytes: JPEG.length + 1000 });
    expect(item!.settled).toMatchObject({ error: { code: 'ITEM_TOO_LARGE' } });
  });

  test('carry the text beside them, if it is one that can be sent', async () => {
    await write(all(JPEG, 'plain.jpg', 'marked.jpg', 'blank.jpg', 'long.jpg', 'broken.jpg'));
    await write({ 'plain.txt': 'a dog on a beach\n', 'marked.txt': '\ufeffgrüß', 'blank.txt': ' \n' });
    await write({ 'long.txt': 'x'.repeat(65_537), 'broken.txt': Buffer.from([0x61, 0xff]) });
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
    await write({ ...all(JPEG, 'a.jpg', 'b.jpg', 'c.jpg'), ...all(broken, 'd.jpg', 'e.jpg') });
    await write(all('beside', 'a.txt', 'b.txt', 'c.txt', 'd.txt', 'e.txt'));
    const { sources, configs } = await listed(home.at('uploads'));
    const read = async (): Promise<unknown[]> =>
      (await itemsOf(sources, configs)).map(({ seq, source }) => [seq, source.path]);
    const before = await read();
    expect(before).toHaveLength(7);
    await write({ 'a.jpg': broken, 'b.txt': 'something else', 'd.jpg': JPEG });
    for (const name of ['c.txt', 'e.jpg']) rmSync(home.at('uploads', name));
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
      await write({ [name]: text, 'a.jpg': JPEG, 'a.txt': 'the manifest comes first', 'sub/b.mp3': MP3 });
      await write({ 'sub/b.txt': 'said', 'note.txt': 'a note', 'unlisted.jpg': JPEG });
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
      const secret = home.write('secret.jpg', JPEG);
      const outside = ['../secret.jpg', 'sub/../../secret.jpg', secret, 'C:\\secret.jpg'];
      const unreadable = [...outside, '..\\secret.jpg', 'leak.jpg', 'gone.jpg'];
      const manifest = ['path', 'a.jpg', ...unreadable, 'a.jpg', '""', '"torn'].join('\n');
      await write({ 'a.jpg': JPEG, 'manifest.csv': manifest });
      symlinkSync(secret, home.at('uploads', 'leak.jpg'));
      const items = await read();
      expect(items.map((item) => `${item.source.row} ${codeOf(item)}`)).toEqual([
        'null ok',
        ...unreadable.map((_, at) => `${at + 2} UNREADABLE_SOURCE`),
        ...[9, 10, 11].map((row) => `${row} MALFORMED_ROW`),
      ]);
      expect(JSON.stringify(items.map(({ settled }) => settled))).not.toContain('secret');
    });

    test('refuse a caption for a file that is no media by its name, and judge no other column', async () => {
      const manifest = 'path,caption,comment\na.jpg,a caption,some words\nnote.txt,of a note,\n';
      await write({ 'a.jpg': JPEG, 'note.txt': 'a note', 'manifest.csv': manifest });
      const items = { 'a.jpg': 'a caption', 'manifest.csv#2': 'MALFORMED_ROW', 'note.txt': 'a text' };
      expect(await told()).toEqual(items);
      const { tables } = await inspect([corpus(home.at('uploads'))]);
      expect(tables).toMatchObject([{ path: 'uploads/manifest.csv', judged: [], not_judged: ['"comment"'] }]);
    });

    test('a table of that name without paths is a table', async () => {
      await write({ 'manifest.csv': 'id,text\n1,hello\n' });
      expect(await told()).toEqual({ 'manifest.csv#1': 'a text' });
    });
  });

  test('are the same items, found in a folder, by a glob, or named', async () => {
    const manifest = 'path,id,caption\nq.jpg,second,listed\nsub/r.mp3,deep,\n';
    await write({ 'p.png': PNG, 'p.txt': 'beside', 'q.jpg': JPEG, 'manifest.csv': manifest });
    await write({ 'sub/r.mp3': MP3, 'sub/r.TXT': 'said' });
    const contents = async (...names: string[]): Promise<(string | null)[]> =>
      (await readItems(names.map((name) => corpus(home.at('uploads', name)))))
        .filter(({ source }) => /\.(?:png|jpg|mp3)$/.test(source.path))
        .map(({ contentSha256 }) => contentSha256)
        .sort();
    const found = await contents('.');
    expect(new Set(found).size).toBe(3);
    for (const given of ['**/*.{png,jpg,mp3}', '**', 'p.png q.jpg sub/r.mp3', '. p.png q.jpg sub/r.mp3'])
      expect(await contents(...given.split(' '))).toEqual(found);
  });

  test.each([
    ['p.jpg p.txt', ['image', 'beside']],
    ['*.txt', ['beside']],
    ['. p.txt', ['image', 'beside']],
    ['. p.jpg', ['image']],
  ])('a text that is asked for itself is an item, whatever it describes: %s', async (given, expected) => {
    await write({ 'p.jpg': JPEG, 'p.txt': 'beside' });
    const configs = given.split(' ').map((name) => corpus(home.at('uploads', name)));
    expect((await readItems(configs)).map(asked)).toEqual(expected);
  });

  test('have changed when the file, the text beside it or the manifest has', async () => {
    const manifest = 'path,id\na.jpg,first\n';
    await write({ 'a.jpg': JPEG, 'b.jpg': JPEG, 'b.txt': 'caption', 'manifest.csv': manifest });
    const { sources, configs } = await listed(home.at('uploads'));
    const codes = async () => (await itemsOf(sources, configs)).slice(0, 2).map(codeOf);
    expect(await codes()).toEqual(['ok', 'ok']);
    appendFileSync(home.at('uploads/b.txt'), '!');
    expect(await codes()).toEqual(['ok', 'SOURCE_CHANGED']);
    appendFileSync(home.at('uploads/manifest.csv'), 'b.jpg,second\n');
    expect(await codes()).toEqual(['SOURCE_CHANGED', 'SOURCE_CHANGED']);
  });
});
