import { describe, expect, test } from 'vitest';
import { asked, corpus, readItems, testFolder, inspect } from '../read-items.ts';

const BAD = 'MALFORMED_ROW';

describe('a table whose rows are not as wide as its header', () => {
  const folder = testFolder();

  /** The texts of the items or the codes of their errors, and whether the header is reported as fitted. */
  async function read(content: string, name = 'a.csv') {
    const configs = [corpus(folder.write(name, content))];
    const inspected = await inspect(configs);
    const items = (await readItems(configs)).map(asked);
    return { items, isFitted: inspected.fittedHeaders.includes(name) };
  }

  const rows = (count: number, end: string, first = 1): string =>
    Array.from({ length: count }, (_, index) => `u${first + index},hello ${first + index}${end}`).join('');
  const texts = (count: number, first = 1): string[] =>
    Array.from({ length: count }, (_, index) => `hello ${first + index}`);

  test.each([
    ['a delimiter behind each row', `id,text\n${rows(3, ',\n')}`],
    ['the same with CR', `id,text\r${rows(3, ',\r')}`],
    ['a delimiter behind some rows', `id,text\n${rows(1, '\n')}${rows(1, ',\n', 2)}${rows(1, ',,\n', 3)}`],
    ['a delimiter behind the header and some rows', `id,text,\n${rows(2, '\n')}${rows(1, ',\n', 3)}`],
  ])('has no bad row for %s', async (_name, content) => {
    expect(await read(content)).toEqual({ items: texts(3), isFitted: false });
    const tsv = content.replaceAll(',', '\t');
    expect(await read(tsv, 'a.tsv')).toEqual({ items: texts(3), isFitted: false });
  });

  test.each([
    ['a header of more names', `id,text,approve,reject\n${rows(3, '\n')}`, texts(3)],
    ['a header of fewer names', `id,text\n${rows(3, ',x\n')}`, texts(3)],
    ['one odd row', `id,text,x,y\n${rows(20, '\n')}u0,a,b\n`, [...texts(20), BAD]],
    ['a misquoted row', `id,text,x,y\n"u"0,a\n${rows(20, '\n')}`, [BAD, ...texts(20)]],
    ['odd rows behind those that decide', `id,text,x,y\n${rows(150, '\n')}u0,a,b,c\n`, [...texts(150), BAD]],
    ['row numbers, as R writes them', `text,label\n${rows(3, ',ok\n').replaceAll('u', '')}`, texts(3)],
  ])('is read with the width of its rows, which is said: %s', async (_name, content, items) => {
    expect(await read(content)).toEqual({ items, isFitted: true });
    expect(await read(content.replaceAll(',', '\t'), 'a.tsv')).toEqual({ items, isFitted: true });
  });

  test.each([
    ['of which some fit the header', `id,text\n${rows(1, ', more\n')}${rows(2, '\n')}`, [BAD, ...texts(2)]],
    ['of as many widths as rows', `id,text\nu,a,b\nu,a,b,c\nu,a,b,c,d\n`, [BAD, BAD, BAD]],
  ])('keeps the width of its header over rows %s', async (_name, content, items) => {
    expect(await read(content)).toEqual({ items, isFitted: false });
  });
});
