import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseDecoder } from '../../src/formats/encoding/decoder.ts';
import { OriginalText } from '../../src/formats/encoding/original-text.ts';
import { pieceSizes } from './read-records.ts';

/** Encodings and how a text is written in them; the text is the characters that all of them have. */
const CODES: Record<string, { encoding: string | null; write: (text: string) => Buffer }> = {
  'utf-8': { encoding: null, write: (text) => Buffer.from(text) },
  'utf-8 with a mark': { encoding: null, write: (text) => Buffer.from(`\ufeff${text}`) },
  'utf-8 with a mark, named as another': {
    encoding: 'windows-1252',
    write: (text) => Buffer.from(`\ufeff${text}`),
  },
  'utf-16le by its mark': { encoding: null, write: (text) => Buffer.from(`\ufeff${text}`, 'utf16le') },
  'utf-16be by its mark': {
    encoding: null,
    write: (text) => Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
  },
  'utf-16le by name': { encoding: 'utf-16le', write: (text) => Buffer.from(text, 'utf16le') },
  'windows-1252': { encoding: 'windows-1252', write: (text) => Buffer.from(text, 'latin1') },
  'iso-8859-15': { encoding: 'iso-8859-15', write: (text) => Buffer.from(text, 'latin1') },
  gb18030: {
    encoding: 'gb18030',
    // Four bytes for é, of which two are ASCII digits.
    write: (text) => Buffer.from(text.replaceAll('é', '\x81\x30\x86\x30'), 'latin1'),
  },
  'big5, broken': { encoding: 'big5', write: (text) => Buffer.from(text, 'latin1') },
};

describe('the original bytes of a text', () => {
  for (const [name, { encoding, write }] of Object.entries(CODES)) {
    test(`are found line by line, however they come in pieces: ${name}`, () => {
      const lines = fc.array(fc.string({ unit: fc.constantFrom('a', '"', ',', 'é', '\r'), maxLength: 60 }));
      fc.assert(
        fc.property(lines, pieceSizes, (written, sizes) => {
          const bytes = write(written.map((line) => `${line}\n`).join(''));
          const original = new OriginalText(10_000);
          for (let at = 0, index = 0; at < bytes.length; index++) {
            const size = sizes[index % sizes.length]!;
            original.append(bytes.subarray(at, at + size));
            at += size;
          }
          const decoder = chooseDecoder(encoding, bytes);
          const text = Buffer.concat([decoder.write(bytes), decoder.end()]);
          const found = [original.mark()];
          for (let end = text.indexOf(0x0a), start = 0; end >= 0; end = text.indexOf(0x0a, start)) {
            const stretch = original.take(end + 1, encoding)!;
            expect(stretch.text).toEqual(text.subarray(start, end + 1));
            found.push(stretch.bytes);
            start = end + 1;
          }
          expect(Buffer.concat(found)).toEqual(bytes);
          expect(found.slice(1).map((line) => line.length)).toEqual(
            written.map((line) => write(`${line}\n`).length - found[0]!.length),
          );
        }),
        { numRuns: 50 },
      );
    });
  }

  test('switch to a named encoding once the file is known to be in it', () => {
    const original = new OriginalText(1000);
    original.append(Buffer.from('plain\n'));
    expect(original.mark()).toHaveLength(0);
    expect(original.take(6, null)!.bytes).toEqual(Buffer.from('plain\n'));
    original.append(Buffer.from('caf\xe9\nx\n', 'latin1'));
    expect(original.take(12, 'windows-1252')).toEqual({
      bytes: Buffer.from('caf\xe9\n', 'latin1'),
      text: Buffer.from('café\n'),
    });
    expect(original.take(14, 'windows-1252')!.bytes).toEqual(Buffer.from('x\n'));
  });

  test('are given up where too much text was not asked for, and found again after that', () => {
    const original = new OriginalText(10);
    original.append(Buffer.from('\n'));
    original.mark();
    for (let count = 0; count < 30; count++) original.append(Buffer.from('a'));
    original.append(Buffer.from('\nlast\n'));
    expect(original.take(32, null)).toBeNull();
    expect(original.take(37, null)!.bytes).toEqual(Buffer.from('last\n'));
    expect(original.take(50, null)).toBeNull();
  });

  test('cannot be told apart where bytes shift the meaning of others', () => {
    expect(OriginalText.canSplit(null)).toBe(true);
    expect(OriginalText.canSplit('shift_jis')).toBe(true);
    expect(OriginalText.canSplit('csiso2022jp')).toBe(false);
  });
});

test('ASCII is written in the encoding of the file', () => {
  for (const mark of ['utf-8', 'utf-16le', 'utf-16be', 'utf-32le', 'utf-32be'] as const) {
    const marks = { 'utf-8': 'efbbbf', 'utf-16le': 'fffe', 'utf-16be': 'feff' };
    const wide = { 'utf-32le': 'fffe0000', 'utf-32be': '0000feff' };
    const head = Buffer.from({ ...marks, ...wide }[mark], 'hex');
    const original = new OriginalText(100);
    original.append(head);
    const decoder = chooseDecoder(null, head);
    decoder.write(original.mark());
    expect(decoder.write(original.ascii(',"x"')).toString()).toBe(',"x"');
  }
});
