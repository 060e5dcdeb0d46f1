import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import { asked, corpus, readItems, testFolder } from '../read-items.ts';

describe('columns and an encoding that are named for a folder', () => {
  const folder = testFolder();

  const write = (name: string, content: string | Buffer) => folder.write(`folder/${name}`, content);

  const read = async (overrides: Partial<SourceConfig> = {}): Promise<string[]> =>
    (await readItems([corpus(folder.at('folder'), overrides)])).map((item) => `${item.id}: ${asked(item)}`);

  test('a column is judged in the files that have it, and the others are read as without it', async () => {
    write('a.csv', 'headline,remarks\none,three\n');
    write('b.csv', 'text,note\nfive,six\n');
    write('c.jsonl', '{"id":"c","text":"seven","remarks":"eight"}\n');
    write('d.txt', 'nine');
    expect(await read()).toEqual(['a.csv#1: one\n\nthree', 'b.csv#1: five', 'c: seven', 'd.txt: nine']);
    const named = ['a.csv#1: three', 'b.csv#1: five', 'c: eight', 'd.txt: nine'];
    expect(await read({ textColumns: ['Remarks', 'note2'] })).toEqual(named);
    expect((await read({ idColumn: 'note', textColumns: ['headline'] }))[1]).toBe('six: five');
  });

  test('an encoding holds for the files that are not UTF-8', async () => {
    write('a.csv', 'text\ncafé\nplain\nnaïve\n');
    write('b.csv', Buffer.from('text\ncafé\nplain\nplain\nplain\n', 'latin1'));
    write('c.csv', Buffer.concat([Buffer.from('text\ncafé\nnaïve\n'), Buffer.from('café\n', 'latin1')]));
    write('d.txt', Buffer.from('café', 'latin1'));
    write('e.txt', 'café');
    write('f.txt', Buffer.from('\ufeffcafé', 'utf16le'));
    expect(await read({ encoding: 'windows-1252' })).toEqual([
      ...['a.csv#1: café', 'a.csv#2: plain', 'a.csv#3: naïve'],
      ...['b.csv#1: café', 'b.csv#2: plain', 'b.csv#3: plain', 'b.csv#4: plain'],
      ...['c.csv#1: café', 'c.csv#2: naïve', 'c.csv#3: INVALID_ENCODING'],
      ...['d.txt: café', 'e.txt: café', 'f.txt: café'],
    ]);
  });

  test('encodings that write text in ASCII bytes', async () => {
    write('a.txt', Buffer.from('café', 'utf16le'));
    write('b.txt', 'café');
    expect(await read({ encoding: 'utf-16le' })).toEqual(['a.txt: café', 'b.txt: café']);
    write('a.txt', Buffer.from('\x1b$B$3$s\x1b(B', 'latin1'));
    expect(await read({ encoding: 'iso-2022-jp' })).toEqual(['a.txt: こん', 'b.txt: café']);
  });
});
