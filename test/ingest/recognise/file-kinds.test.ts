import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import { asked, corpus, readItems, testFolder } from '../read-items.ts';

describe('what a file is, by its content', () => {
  const folder = testFolder();

  /** What becomes of a file: its only item's text, media or error. */
  async function told(name: string, content: string | Buffer, overrides: Partial<SourceConfig> = {}) {
    const [item, ...others] = await readItems([corpus(folder.write(name, content), overrides)]);
    expect(others).toEqual([]);
    const error = item!.settled?.error;
    return error ? `${error.code}: ${error.message}` : asked(item!);
  }

  test.each([
    'GIF87a',
    'begin 644 times, but not this',
    'From: Ann\nTo: Bob\nSubject: lunch\n\nAt noon?',
    'BEGIN:VCARD is a line of a vCard',
    '<p align="center">A README</p>\n\n# Words',
    'deadbeef',
    'a'.repeat(500),
  ])('%j is the text that it looks like', async (text) => {
    expect(await told('a.txt', text)).toBe(text);
    expect(await told('no-extension', text)).toBe(text);
  });

  test('a text in an older encoding is one whatever letters it begins with', async () => {
    const cyrillic = { encoding: 'windows-1251' };
    // In windows-1251 these letters are the first bytes of a frame of MPEG audio, and of a JPEG XL image.
    expect(await told('a.txt', Buffer.from('ffe2edee2c20f7f2ee', 'hex'), cyrillic)).toBe('явно, что');
    expect(await told('b.txt', Buffer.from('ff0ae2f1e5', 'hex'), cyrillic)).toBe('я\nвсе');
    expect(await told('c.txt', Buffer.from('ID3 caf\xe9', 'latin1'))).toMatch(/^INVALID_ENCODING/);
  });

  test('any words behind a signature of letters are a text', async () => {
    const signatures = [
      ...['GIF89a', 'GIF87a', 'ID3', 'fLaC', 'OggS', 'RIFF1234WAVE', 'RIFF1234WEBP', 'RIFF1234AVI ', 'PAR1'],
      ...['FORM1234AIFF', '#!AMR\n', '%PDF-', '%!PS', 'BM', 'MZ', 'PK', 'Rar!', '7z', 'BZh9', 'caff', '.snd'],
      ...['\n123ftypavif', '\n123moov', 'P6\n', '8BPS', 'DDS ', 'FLV', 'BEGIN:', 'From ', '{', '<', '%!'],
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...signatures),
        fc.array(fc.stringMatching(/^[a-zé ,.?]{1,12}$/), { minLength: 1, maxLength: 20 }),
        async (signature, words) => {
          const text = `${signature} ${words.join('\n')}.`;
          expect(await told('a.txt', text)).toBe(text);
        },
      ),
      { numRuns: 40 },
    );
  });

  const zeros = (bytes: number): Buffer => Buffer.alloc(bytes);
  const bytes = (...parts: (string | Buffer)[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));

  test.each([
    ['a.tga', bytes('\0\0\x02', zeros(9), '\x40\0\x40\0\x20\x08', Buffer.alloc(60_000, 0xe0))],
    ['a.dds', bytes('DDS \x7c\0\0\0', zeros(120), Buffer.alloc(60_000, 0xe9))],
    ['a.eps', bytes('\xc5\xd0\xd3\xc6\x1e\0\0\0', Buffer.alloc(60_000, '%!PS\n'))],
    ['a.dat', bytes(zeros(8), Buffer.alloc(60_000, 0xe9))],
    ['prog', bytes('MZ\x90\0\x03\0\0\0', zeros(56), 'This program cannot be run in DOS mode')],
  ])('%s is no text in any encoding', async (name, content) => {
    for (const overrides of [{}, { encoding: 'windows-1252' }])
      expect(await told(name, content, overrides)).toMatch(/^UNSUPPORTED_TYPE/);
  });

  const base64 = Buffer.from(Array.from({ length: 600 }, (_, at) => (at * 89) % 251)).toString('base64');

  test.each([
    ['XML document', '<?xml version="1.0"?>\n<posts><post>words</post></posts>'],
    ['rich text', '{\\rtf1\\ansi words}'],
    ['calendar', 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nSUMMARY:wo\r\n rds\r\nEND:VCALENDAR\r\n'],
    ['encoded data', `begin 644 a.txt\n#86)C\n\`\nend\n`],
    ['encoded data', base64],
    ['encoded data', `${base64.replaceAll(/.{76}/g, '$&\n')}\n`],
    ['encoded data', `${Buffer.from(base64).toString('hex')}\n`],
    ['encoded data', `data:text/plain;base64,${base64}`],
  ])('%s: %j is not judged as if it were words', async (kind, text) => {
    for (const name of ['a.txt', 'a', 'a.csv', 'a.json']) {
      const said = await told(name, text);
      expect(said).toMatch(/^UNSUPPORTED_TYPE: .*, which is not judged: /);
      expect(said).toContain(kind);
    }
    expect(await told('a.txt', Buffer.from(`\ufeff${text}`, 'utf16le'))).toMatch(/^UNSUPPORTED_TYPE/);
    expect(await told('b.txt', text, { layout: 'text' })).toBe(text);
  });

  test('encoded data behind a line of words is encoded data; words with a part of it are words', async () => {
    const lines = base64.replaceAll(/.{76}/g, '$&\n');
    expect(await told('a.txt', `Here is the file:\n\n${lines}\n`)).toMatch(/^UNSUPPORTED_TYPE.*encoded data/);
    expect(await told('e.txt', '&#119;&#111;&#114;&#100;&#115;&#119;&#111;&#114;')).toMatch(/encoded data/);
    const signed = `${'words of a letter '.repeat(20)}\n${lines.slice(0, 154)}\n`;
    expect(await told('f.txt', signed)).toBe(signed);
    const entities = 'Tom &amp; Jerry &#38; all of their friends';
    expect(await told('g.txt', entities)).toBe(entities);
  });

  test('encoded rows are errors of their own, with the reason that they must be decoded', async () => {
    const rows = [
      ['words', null],
      [Buffer.from('words of a secret').toString('base64'), 'encoded_content'],
      [Buffer.from('words of a secret').toString('hex'), 'encoded_content'],
      ['&#119;&#111;&#114;&#100;&#115;&#119;&#111;&#114;', 'encoded_content'],
      ['internationalization', null],
      ['ha'.repeat(300), null],
      ['https://example.org/a/b?c=d', null],
    ] as const;
    const contents = {
      'rows.csv': `id,text\n${rows.map(([text], at) => `${at},${text}\n`).join('')}`,
      'pairs.jsonl': rows.map(([response]) => `${JSON.stringify({ prompt: 'p', response })}\n`).join(''),
    };
    for (const [name, content] of Object.entries(contents)) {
      const items = await readItems([corpus(folder.write(name, content))]);
      const reasons = items.map(({ settled }) => settled?.error?.reason ?? null);
      expect(reasons).toEqual(rows.map(([, reason]) => reason));
    }
  });

  test('control bytes make a text binary by their share', async () => {
    const apostrophes = 'It\x14s what I said, and it\x14s what everybody in the room heard, all of them.\n';
    for (const text of [apostrophes, apostrophes.repeat(2000), 'a\x14b'])
      expect(await told('a.txt', text)).toBe(text);
    const legacy = Buffer.from(apostrophes.repeat(20).replaceAll('all', '\xe0ll'), 'latin1');
    expect(await told('b.txt', legacy, { encoding: 'windows-1252' })).toContain('àll');
    const noise = Buffer.from(Array.from({ length: 5000 }, (_, at) => 1 + ((at * 89) % 255)));
    expect(await told('c.txt', noise)).toMatch(/^UNSUPPORTED_TYPE.*binary/);
  });

  test('a spreadsheet saved as Unicode text is a table, and other UTF-16 text is not', async () => {
    const table = '\ufeffNr\tKunde\tNachricht\r\n1\tAnna\tIch warte.\r\n2\tUwe\t"alles gut,\ndanke"';
    const path = folder.write('export.txt', Buffer.from(table, 'utf16le'));
    expect((await readItems([corpus(path)])).map(asked)).toEqual(['Ich warte.', 'alles gut,\ndanke']);
    for (const text of ['a\tb', 'Dear all,\n\tthis is a letter.\n\tBye', 'one line'])
      expect(await told('letter.txt', Buffer.from(`\ufeff${text}`, 'utf16le'))).toBe(text);
  });

  test('text in UTF-32 is not taken for UTF-16', async () => {
    const utf32 = Buffer.concat([...'\ufeffwords'].map((each) => Buffer.from(`${each}\0`, 'utf16le')));
    for (const bytes of [utf32, Buffer.from(utf32).swap32()])
      expect(await told('a.txt', bytes)).toMatch(/^UNSUPPORTED_TYPE.*text in UTF-32/);
  });

  test.each([
    ['a.ps', '%!PS-Adobe-3.0\n(words) show\n', 'file_type'],
    ['b.ics', 'words', 'file_type'],
    ['c.csv', 'first,second\nalpha,beta\n', 'no_text_column'],
  ])('what has to be converted is told from what has to be named: %s', async (name, content, reason) => {
    folder.write(name, content);
    const [item] = await readItems([corpus(folder.at())]);
    expect(item!.settled?.error?.reason).toBe(reason);
  });
});
