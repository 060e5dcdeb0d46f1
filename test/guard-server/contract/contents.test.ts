import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeBase64, isAudioContainer } from '../../../src/guard-server/contract/contents.ts';

it.each([
  ['MP3 with ID3', 'ID3\x04\x00', true],
  ['bare MP3', '\xff\xfb\x90\x00', true],
  ['WAV', 'RIFF\x24\x00\x00\x00WAVEfmt ', true],
  ['FLAC', 'fLaC\x00', true],
  ['Ogg', 'OggS\x00', true],
  ['M4A', '\x00\x00\x00\x20ftypM4A ', true],
  ['nothing', '', false],
  ['text', 'hello there', false],
  ['JPEG', '\xff\xd8\xff\xe0', false],
  ['UTF-16 text', '\xff\xfeh\x00', false],
  ['AVI', 'RIFF\x24\x00\x00\x00AVI LIST', false],
])('a clip that begins as %s does: is it taken? (C-705, C-804)', (_name, head, isTaken) => {
  expect(isAudioContainer(Buffer.from(head, 'latin1'))).toBe(isTaken);
});

describe('base64', () => {
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
      expect(decodeBase64(Buffer.from(text, 'latin1'))).toBeNull();
    },
  );
});
