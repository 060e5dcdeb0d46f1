import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, isAudioContainer } from '../../../src/guard-server/contract/contents.ts';

describe('a clip by how it begins', () => {
  it.each([
    ['MP3 with ID3', 'ID3\x04\x00'],
    ['bare MP3', '\xff\xfb\x90\x00'],
    ['WAV', 'RIFF\x24\x00\x00\x00WAVEfmt '],
    ['FLAC', 'fLaC\x00'],
    ['Ogg', 'OggS\x00'],
    ['M4A', '\x00\x00\x00\x20ftypM4A '],
  ])('takes %s (C-804)', (_name, head) => {
    expect(isAudioContainer(Buffer.from(head, 'latin1'))).toBe(true);
  });

  it.each([
    ['nothing', ''],
    ['text', 'hello there'],
    ['JPEG', '\xff\xd8\xff\xe0'],
    ['UTF-16 text', '\xff\xfeh\x00'],
    ['AVI', 'RIFF\x24\x00\x00\x00AVI LIST'],
    ['a lone sync byte', '\xff'],
  ])('refuses %s (C-705)', (_name, head) => {
    expect(isAudioContainer(Buffer.from(head, 'latin1'))).toBe(false);
  });
});

describe('base64', () => {
  const decoded = (text: string): string | null =>
    decodeBase64(Buffer.from(text, 'latin1'))?.toString('latin1') ?? null;

  it('gives back the bytes, padded or not (C-206)', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (array) => {
        const bytes = Buffer.from(array);
        const text = bytes.toString('base64');
        expect(decodeBase64(Buffer.from(text))).toEqual(bytes);
        expect(decodeBase64(Buffer.from(text.replace(/=/g, '')))).toEqual(bytes);
      }),
    );
  });

  it.each(['!', 'a', 'YWJj!', 'YW Jj', 'YWJj\n', 'YW==YW==', 'YWI==', '_-8=', 'YWJjé', 'data:,YWJj', '='])(
    'refuses %j',
    (text) => {
      expect(decoded(text)).toBeNull();
    },
  );
});
