import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import { asked, corpus, inspect as inspectAll, readItems, testFolder } from '../read-items.ts';

describe('inspecting sources', () => {
  const folder = testFolder();

  const inspect = (name: string, overrides: Partial<SourceConfig> = {}) =>
    inspectAll([corpus(folder.at(name), overrides)]);

  function write(name: string, content: string | Buffer): void {
    for (const path of [name, `folder/${name}`]) folder.write(path, content);
  }

  test('names the string columns that nobody judges', async () => {
    write('a.csv', 'ID,subject,text,score,empty\nx1,Hello,How are you?,3,\n');
    const unjudged = [{ path: 'a.csv', columns: ['"subject"'] }];
    expect(await inspect('a.csv')).toMatchObject({ unjudgedColumns: unjudged, withoutText: [] });
    const named = { textColumns: ['subject', 'Text'], idColumn: 'id' };
    expect(await inspect('a.csv', named)).toMatchObject({ unjudgedColumns: [] });
    write('b.jsonl.gz', gzipSync('{"prompt":"Q","response":"A","topic":"t","tags":["x"],"n":1}\n'));
    const nested = [{ path: 'b.jsonl.gz', columns: ['"topic"', '"tags"'] }];
    expect(await inspect('b.jsonl.gz')).toMatchObject({ unjudgedColumns: nested });
  });

  test.each([
    ['a name given twice', 'id,text,text\n1,a,b\n', {}, ['column 3']],
    ['names that differ in case', 'text,Text\na,b\n', {}, ['"Text"']],
    ['the other of two such names', 'text,Text\na,b\n', { textColumns: ['Text'] }, ['"text"']],
    ['no name', 'text,\na,b\n', {}, ['column 2']],
  ])('names columns that nobody judges, also those of %s', async (_name, content, overrides, columns) => {
    write('a.csv', content);
    const unjudgedColumns = [{ path: 'a.csv', columns }];
    expect(await inspect('a.csv', overrides)).toMatchObject({ unjudgedColumns });
  });

  test.each([
    ['a table without a text', 'first,second\nalpha,beta\n', /--text-column.*"first", "second"/],
    ['a file that is not UTF-8', Buffer.from('text\ncafé\nnaïve\nüber\n', 'latin1'), /--encoding/],
  ])('%s is a usage failure when named, and one item when found', async (_name, content, message) => {
    write('a.csv', content);
    const failure = { kind: 'usage', message: expect.stringMatching(message) as string };
    await expect(inspect('a.csv')).rejects.toMatchObject(failure);
    expect(await inspect('folder')).toMatchObject({ unjudgedColumns: [] });
    const codes = (await readItems([corpus(folder.at('folder'))])).map(asked);
    expect(codes).toEqual([expect.stringMatching(/^(UNSUPPORTED_TYPE|INVALID_ENCODING)$/)]);
  });

  test.each([
    ['text', { textColumns: ['body'] }, /no column "body".*"text"/, /has a column "body"; they have: "text"/],
    ['id', { idColumn: 'key' }, /no column "key"/, /no file of the sources has a column "key"/],
  ])('a column of the %s that no file has is a usage failure', async (_name, overrides, named, found) => {
    write('a.csv', 'text\nx\n');
    await expect(inspect('a.csv', overrides)).rejects.toThrow(named);
    await expect(inspect('folder', overrides)).rejects.toThrow(found);
    write('records', '{"body":"x","key":"k"}\n');
    expect(await inspect('folder', overrides)).toMatchObject({ withoutText: [] });
  });

  test('files that are not UTF-8 are told by their encodings', async () => {
    const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
    write('de.csv', latin(`Nr;Kommentar\n${'1;Über schöne Äpfel und süße Früchte\n'.repeat(9)}`));
    write('note.txt', latin('Grüße aus München, die Straße war schön.'));
    // "Привет, как дела? …" in windows-1251.
    const cyrillic = 'cff0e8e2e5f22c20eae0ea20e4e5ebe03f20d1e5e3eee4edff20f5eef0eef8e0ff20efeee3eee4e0';
    write('ru.txt', Buffer.from(cyrillic.repeat(3), 'hex'));
    const { otherEncodings } = await inspect('folder');
    expect(otherEncodings).toEqual([
      { encoding: 'windows-1252', paths: ['folder/de.csv', 'folder/note.txt'] },
      { encoding: 'windows-1251', paths: ['folder/ru.txt'] },
    ]);
  });
});

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
