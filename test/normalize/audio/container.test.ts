import fc from 'fast-check';
import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  type Container,
  CONTAINERS,
  framesAt,
  recogniseContainer,
} from '../../../src/normalize/audio/container.ts';
import { folder } from './clips.ts';

async function recognised(bytes: Buffer): Promise<Container | null> {
  const path = join(await folder(), 'file');
  await writeFile(path, bytes);
  const file = await open(path);
  try {
    return await recogniseContainer(file);
  } finally {
    await file.close();
  }
}

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
const zeros = (length: number): Buffer => Buffer.alloc(length);

/** A frame: its header and nothing, as long as the header says. */
function frame(header: string, bytes: number): Buffer {
  return Buffer.concat([latin1(header), zeros(bytes - header.length)]);
}

/** 128 kbit/s at 44.1 kHz. */
const LAYER_THREE = frame('\xff\xfb\x90\x00', 417);
const PADDED_LAYER_THREE = frame('\xff\xfb\x92\x00', 418);
/** Of 64 bytes. */
const ADTS = frame('\xff\xf1\x50\x80\x08\x00\xfc', 64);

/** An ID3 tag of version 2.4. */
function tag(bytes: number, { footer = false } = {}): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  const head = [0x49, 0x44, 0x33, 4, 0, footer ? 0x10 : 0, ...size];
  return Buffer.concat([Buffer.from(head), zeros(bytes + (footer ? 10 : 0))]);
}

it.each<[name: string, expected: Container | null, ...parts: Buffer[]]>([
  ['WAV', 'wav', latin1('RIFF\x24\0\0\0WAVEfmt ')],
  ['WAV with big-endian numbers', 'wav', latin1('RIFX\0\0\0\x24WAVEfmt ')],
  ['WAV over 4 GB', 'wav', latin1('RF64\xff\xff\xff\xffWAVEds64')],
  ['AVI, another kind of RIFF', null, latin1('RIFF\x24\0\0\0AVI LIST')],
  ['compressed AIFF', 'aiff', latin1('FORM\0\0\0\x24AIFCFVER')],
  ['a QuickTime file from before ftyp', 'mov', latin1('\0\0\x10\0moov\0\0\0\x6cmvhd')],
  ['a QuickTime file with a large mdat in front', 'mov', latin1('\x24\0\0\0mdat')],
  ['words that look like an atom', null, latin1('The free encyclopedia')],
  ['wide-band AMR', 'amr', latin1('#!AMR-WB\n\x04')],
  ["Monkey's Audio", 'ape', latin1('MAC \x96\x0f\0\0\x34\0\0\0')],
  ["Monkey's Audio behind a tag", 'ape', tag(30), latin1('MAC \x96\x0f\0\0\x34\0\0\0')],
  ['words about a computer', null, latin1('MAC OS was the name of an operating system.')],
  ['WavPack', 'wv', latin1('wvpk\x64\x27\0\0\x10\x04\0\0')],
  ['Musepack 7', 'mpc', latin1('MP+\x17\x0c\0\0\0')],
  ['Musepack 8', 'mpc8', latin1('MPCKSH\x0f\0\0\0\0\x08')],
  ['words that begin like Musepack', null, latin1('MP+g and MPCK are letters.')],
  ['DSD', 'dsf', latin1('DSD \x1c\0\0\0\0\0\0\0')],
  ['MPEG layer III', 'mp3', LAYER_THREE, PADDED_LAYER_THREE],
  ['one frame of it', 'mp3', LAYER_THREE],
  ['MPEG layer II', 'mp3', frame('\xff\xfd\x90\x00', 522), frame('\xff\xfd\x90\x00', 522)],
  ['MPEG layer I', 'mp3', frame('\xff\xff\x90\x00', 312), frame('\xff\xff\x90\x00', 312)],
  ['MPEG-2 layer III', 'mp3', frame('\xff\xf3\x80\x00', 208), frame('\xff\xf3\x80\x00', 208)],
  ['MPEG-2.5 layer III', 'mp3', frame('\xff\xe3\x80\x00', 417), frame('\xff\xe3\x80\x00', 417)],
  ['a frame that another kind follows', null, LAYER_THREE, frame('\xff\xfd\x90\x00', 522)],
  ['a frame that nothing known follows', null, LAYER_THREE, zeros(100)],
  ['frames behind zero bytes', 'mp3', zeros(5000), LAYER_THREE, LAYER_THREE],
  ['zero bytes', null, zeros(100_000)],
  ['AAC', 'aac', ADTS, ADTS],
  ['AAC behind a tag', 'aac', tag(300), ADTS, ADTS],
  ['FLAC behind a tag with a footer', 'flac', tag(300, { footer: true }), latin1('fLaC\0\0\0\x22')],
  ['MP3 behind two tags and some padding', 'mp3', tag(100_000), tag(20), zeros(50), LAYER_THREE, LAYER_THREE],
  ['a tag before anything else: MP3 with broken frames', 'mp3', tag(20), latin1('\0\0\0\x20ftypisom')],
  ['a tag that is longer than the file', 'mp3', tag(20).subarray(0, 15)],
  ['tags without end', null, ...Array<Buffer>(20).fill(tag(4))],
  ['UTF-16 text', null, Buffer.from('\ufeffffffffffffff', 'utf16le')],
  ['a JPEG', null, latin1('\xff\xd8\xff\xe0\0\x10JFIF')],
  ['nothing', null],
])('%s', async (_name, expected, ...parts) => {
  expect(await recognised(Buffer.concat(parts))).toBe(expected);
});

it('recognises or does not, whatever the bytes are', async () => {
  const beginnings = fc
    .constantFrom('', 'ID3\x04\0\0\0\0\0', 'RIFF', '\xff\xfb', '\xff\xf1', '\0\0\0')
    .map(latin1);
  await fc.assert(
    fc.asyncProperty(beginnings, fc.uint8Array({ maxLength: 300 }), async (start, rest) => {
      const container = await recognised(Buffer.concat([start, rest]));
      expect(container === null || CONTAINERS.includes(container)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

it('never reads beyond what is there', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.nat(12), (bytes, at) => {
      expect([null, 'mp3', 'aac']).toContain(framesAt(Buffer.from(bytes), at));
    }),
  );
});
