import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import { describe, expect, test } from 'vitest';
import { type Files, zipOf } from '../../helpers/documents.ts';
import { wavFile } from '../../helpers/wav.ts';
import { corpus, PNG, readItems, testFolder } from '../read-items.ts';
import { itemLine, readUnpacked } from './unpacked-items.ts';

async function tar(files: Files): Promise<Buffer> {
  const archive = pack();
  for (const [name, content] of Object.entries(files)) archive.entry({ name }, Buffer.from(content));
  archive.finalize();
  return buffer(archive);
}

const WAV = wavFile(160, () => 0);
const FOUR = { a: 'a', b: 'b', c: 'c', d: 'd' };
const ZEROS = new Uint8Array(20_000_000);

const MIXED: Files = {
  'notes/a.txt': 'first words',
  'notes/table.csv': 'id,text\n7,a cell\n8,"another, longer cell"\n',
  'chat.jsonl': '{"messages":[{"role":"user","content":"hello"}]}\n',
  'pictures/b.png': PNG,
  'clip.wav': WAV,
  'program.exe': 'MZ\u0090\0\u0003\0\0\0',
  // No name hides content.
  '.DS_Store': 'left behind',
};

describe('files in an archive', () => {
  const folder = testFolder();

  const read = (name: string, bytes: Uint8Array, limits = {}) => readUnpacked(folder.at(name), bytes, limits);

  test('larger than the buffer of a pipe arrive when the process that reads is busy', async () => {
    const words = 'many words '.repeat(50_000);
    const archive = zipOf({ 'large.txt': words });
    const asleep = new Int32Array(new SharedArrayBuffer(4));
    const busy = setInterval(() => Atomics.wait(asleep, 0, 0, 500), 1);
    const items = await read('a.zip', archive).finally(() => clearInterval(busy));
    expect(items.map(itemLine)).toEqual(['1 large.txt: prompt']);
  });

  test.each([
    ['a.zip', async () => zipOf(MIXED)],
    ['a.tar', () => tar(MIXED)],
    ['a.tar.gz', async () => gzipSync(await tar(MIXED))],
  ])('are recognised in %s as in a folder', async (name, archive) => {
    const items = await read(name, await archive());
    expect(items.map(itemLine)).toEqual([
      '1 notes/a.txt: prompt',
      '2 notes/table.csv row 1: prompt',
      '3 notes/table.csv row 2: prompt',
      '4 chat.jsonl row 1: multiturn',
      '5 pictures/b.png: image',
      '6 clip.wav: audio',
      '7 program.exe: UNSUPPORTED_TYPE',
      '8 .DS_Store: prompt',
    ]);
    expect(items.map(({ id }) => id)).toEqual(items.map((_, at) => `${name}#${at + 1}`));
    // Equal content has one verdict, wherever it is.
    const [alone] = await readItems([corpus(folder.write('alone.png', PNG))]);
    expect(items[4]!.contentSha256).toBe(alone!.contentSha256);
  });

  test('in other archives are judged down to a depth', async () => {
    const gz = gzipSync(await tar({ 'deep.txt': 'deep' }));
    const archive = zipOf({
      'one.zip': zipOf({ 'two.tgz': gz, 'two.zip': zipOf({ 'x.zip': zipOf({ y: 'y' }) }) }),
    });
    const items = await read('a.zip', archive);
    expect(items.map(itemLine)).toEqual([
      '1 one.zip/two.tgz/two.tar/deep.txt: prompt',
      '2 one.zip/two.zip/x.zip: ITEM_TOO_LARGE',
    ]);
  });

  /** Changes bytes at the offset of the flags in each header of a ZIP file's entries. */
  function eachHeader(bytes: Buffer, change: (flags: number) => void): void {
    for (let at = 0; at + 4 <= bytes.length; at++) {
      const signature = bytes.readUInt32LE(at);
      if (signature === 0x04034b50) change(at + 6);
      if (signature === 0x02014b50) change(at + 8);
    }
  }

  test('that are encrypted, of another method or damaged cost only themselves', async () => {
    const spoilt = (spoil: (bytes: Buffer) => void): Buffer => {
      const whole = zipOf({ 'a.txt': 'words '.repeat(1000) });
      spoil(whole);
      return whole;
    };
    const archive = zipOf({
      'encrypted.zip': spoilt((all) => eachHeader(all, (flags) => (all[flags]! |= 1))),
      'method.zip': spoilt((all) => eachHeader(all, (flags) => (all[flags + 2] = 12))),
      'damaged.zip': spoilt((all) => all.fill(0xff, 36, 60)),
      'good.txt': 'good',
    });
    expect((await read('a.zip', archive)).map(itemLine)).toEqual([
      '1 encrypted.zip/a.txt: UNSUPPORTED_TYPE',
      '2 method.zip/a.txt: UNSUPPORTED_TYPE',
      '3 damaged.zip/a.txt: UNREADABLE_SOURCE',
      '4 good.txt: prompt',
    ]);
  });

  test('before a damage are judged, and what is missing is an item', async () => {
    const whole = await tar({ 'a.txt': 'first', 'b.txt': 'second '.repeat(500), 'c.txt': 'third' });
    const items = await read('a.tar', whole.subarray(0, 2048));
    expect(items.map(itemLine)).toEqual([
      '1 a.txt: prompt',
      '2 b.txt: UNREADABLE_SOURCE',
      '3 null: UNREADABLE_SOURCE',
    ]);
  });

  test.each<[string, object, Files, string]>([
    ['parts', { parts: 2 }, FOUR, '2 parts, is not unpacked: it has more than 2'],
    ['bytes', { bytes: 10 }, { a: '12345', b: '12345', c: '12345' }, '1 parts, is not unpacked: it expands'],
    ['ratio', { ratio: 2 }, { a: 'a', zeros: ZEROS }, '1 parts, is not unpacked: it expands'],
  ])('beyond the bound of %s are one item that says how many', async (_name, limits, files, said) => {
    const last = (await read('a.zip', zipOf(files), limits)).at(-1)!;
    expect([last.part, last.settled!.error!.code]).toEqual([null, 'ITEM_TOO_LARGE']);
    expect(last.settled!.error!.message).toContain(`the rest of the file, ${said}`);
  });

  test('are not hidden by the name of a folder, or a kind that is not read', async () => {
    const items = await read('a.zip', zipOf({ 'folder/': 'words of a folder', 'empty/': '' }));
    expect(items.map(itemLine)).toEqual(['1 folder/: prompt']);
    const sparse = await tar({ 'a.txt': 'words' });
    sparse[156] = 'S'.charCodeAt(0);
    sparse.fill(' ', 148, 156);
    const sum = sparse.subarray(0, 512).reduce((all, byte) => all + byte, 0);
    sparse.write(sum.toString(8).padStart(6, '0') + '\0 ', 148);
    expect((await read('a.tar', sparse)).map(itemLine)).toEqual(['1 a.txt: UNSUPPORTED_TYPE']);
  });

  test('have their names as labels, whatever these say, and each is an item', async () => {
    const name = fc.oneof(
      fc.constantFrom('../../etc/passwd', '/etc/passwd', 'C:\\x\\y.txt', 'a\n\u001b[31mb', '\ud800'),
      fc.string({ minLength: 1, unit: 'binary', maxLength: 400 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(name, { minLength: 1, maxLength: 20 }), async (names) => {
        const kept = names.filter((each) => !/[/\\]$/.test(each));
        const files = Object.fromEntries(names.map((each, at) => [`${at} ${each}`, `text ${at}`]));
        const items = await read('a.zip', zipOf(files));
        expect(items).toHaveLength(Math.max(1, kept.length));
        for (const { part } of items) expect((part ?? '').isWellFormed()).toBe(true);
      }),
      { numRuns: 4 },
    );
  });
});
