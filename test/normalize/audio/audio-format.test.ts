import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type AudioFormat, recogniseAudio } from '../../../src/normalize/audio/audio-format.ts';
import { folderWith, openedFile } from '../../helpers/cli.ts';

const ZEROS = '\0'.repeat(5000);

it.each<[name: string, expected: AudioFormat | null, beginning: string]>([
  ['WAV with big-endian numbers', 'wav', 'RIFX\0\0\0\x24WAVEfmt '],
  ['WAV over 4 GB', 'wav', 'RF64\xff\xff\xff\xffWAVEds64'],
  ['AVI, another kind of RIFF', 'avi', 'RIFF\x24\0\0\0AVI LIST'],
  ['compressed AIFF', 'aiff', 'FORM\0\0\0\x24AIFCFVER'],
  ['a QuickTime file from before ftyp', 'mov', '\0\0\x10\0moov\0\0\0\x6cmvhd'],
  ['a QuickTime file that begins with a large mdat', 'mov', '\x24\0\0\0mdat'],
  ['words that look like an atom', null, 'The free encyclopedia'],
  ['wide-band AMR', 'amr', '#!AMR-WB\n\x04'],
  ['words about a computer', null, 'MAC OS was the name of an operating system.'],
  ['words that begin like Musepack', null, 'MP+g and MPCK are letters.'],
  ['a frame after zero bytes', 'stream', `${ZEROS}\xff\xfb\x90\x00`],
  ['zero bytes', null, ZEROS],
  ['a JPEG', null, '\xff\xd8\xff\xe0\0\x10JFIF'],
])('%s', async (_name, expected, beginning) => {
  const folder = await folderWith({ file: Buffer.from(beginning, 'latin1') });
  expect(await recogniseAudio(await openedFile(join(folder, 'file')))).toBe(expected);
});
