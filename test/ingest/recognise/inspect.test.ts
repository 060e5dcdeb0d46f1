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
