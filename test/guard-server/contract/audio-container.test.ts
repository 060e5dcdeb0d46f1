import { expect, it } from 'vitest';
import { isAudioContainer } from '../../../src/guard-server/contract/contents.ts';

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
