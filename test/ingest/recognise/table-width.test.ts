import { describe, expect, test } from 'vitest';
import { corpus, readItems, testFolder, inspect } from '../read-items.ts';

const BAD = 'MALFORMED_ROW';

describe('a table whose rows are not as wide as its header', () => {
  const folder = testFolder();

  /** The texts of the items or the codes of their errors, and whether the header is reported as fitted. */
  async function read(content: string, name = 'a.csv') {
    const configs = [corpus(folder.write(name, content))];
    const inspected = await inspect(configs);
    const items = (await readItems(configs)).map(({ request, settled }) =>
      request !== null && 'text' in request ? request.text : (settled?.error?.code ?? null),
    );
    return { items, isFitted: inspected.fittedHeaders.includes(name) };
  }

  const rows = (count: number, end: string, first = 1): string =>
    Array.from({ length: count }, (_, index) => `u${first + index},hello ${first + index}${end}`).join('');
  const texts = (count: number, first = 1): string[] =>
    Array.from({ length: count }, (_, index) => `hello ${first + index}`);

  test.each([
    ['a delimiter behind each row', `id,text\n${rows(3, ',\n')}`],
    ['the same with CR LF', `id,text\r\n${rows(3, ',\r\n')}`],
    ['the same with CR', `id,text\r${rows(3, ',\r')}`],
    ['empty quoted cells behind each row', `id,text\n${rows(3, ',"",\n')}`],
    ['a delimiter behind the header', `id,text,\n${rows(3, '\n')}`],
    ['a delimiter behind the header and behind each row', `id,text,\n${rows(3, ',\n')}`],
    ['a delimiter behind some rows', `id,text\n${rows(1, '\n')}${rows(1, ',\n', 2)}${rows(1, ',,\n', 3)}`],
    ['a delimiter behind the header and some rows', `id,text,\n${rows(2, '\n')}${rows(1, ',\n', 3)}`],
  ])('has no bad row for %s', async (_name, content) => {
    expect(await read(content)).toEqual({ items: texts(3), isFitted: false });
    const tsv = content.replaceAll(',', '\t');
    expect(await read(tsv, 'a.tsv')).toEqual({ items: texts(3), isFitted: false });
  });

  test.each([
    ['a header of more names', `id,text,approve,reject\n${rows(3, '\n')}`, texts(3)],
    [
      'a header of more names, and delimiters behind some rows',
      `id,text,x,y,z\n${rows(2, '\n')}${rows(1, ',\n', 3)}`,
      texts(3),
    ],
    ['a header of fewer names', `id,text\n${rows(3, ',x\n')}`, texts(3)],
    ['one odd row', `id,text,x,y\n${rows(20, '\n')}u0,a,b\n`, [...texts(20), BAD]],
    ['a misquoted row', `id,text,x,y\n"u"0,a\n${rows(20, '\n')}`, [BAD, ...texts(20)]],
    [
      'odd rows behind those that decide',
      `id,text,x,y\n${rows(150, '\n')}u0,a,b,c\n${rows(2, '\n', 151)}`,
      [...texts(150), BAD, ...texts(2, 151)],
    ],
    [
      'the numbers of its rows, as R writes them',
      `text,label\n${[1, 2, 3].map((n) => `"${n}",hello ${n},ok\n`).join('')}`,
      texts(3),
    ],
  ])('is read with the width of its rows, which is said: %s', async (_name, content, items) => {
    expect(await read(content)).toEqual({ items, isFitted: true });
    expect(await read(content.replaceAll(',', '\t'), 'a.tsv')).toEqual({ items, isFitted: true });
  });

  test.each([
    [
      'of which some fit the header',
      `id,text\n${rows(8, ', more\n')}${rows(2, '\n', 9)}`,
      [...Array<string>(8).fill(BAD), ...texts(2, 9)],
    ],
    ['of as many widths as rows', `id,text\nu,a,b\nu,a,b,c\nu,a,b,c,d\n`, [BAD, BAD, BAD]],
    ['without a delimiter', `id,text\nhello 1\nhello 2\n`, [BAD, BAD]],
    ['below a title', `text\nhello, you\nhello, me\n`, [BAD, BAD]],
  ])('keeps the width of its header over rows %s', async (_name, content, items) => {
    expect(await read(content)).toEqual({ items, isFitted: false });
  });

  test('may begin with rows that do not fit in its head', async () => {
    const long = 'word '.repeat(80_000).trim();
    const content = `id,text\nu1,${long},,\nu2,hello 2,\n`;
    expect((await read(content)).items).toEqual([long, 'hello 2']);
  });
});
