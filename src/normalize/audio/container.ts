import type { FileHandle } from 'node:fs/promises';
import { hasMagicBytes, findByMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import { readFully } from '../../files/read-fully.ts';

/** ffmpeg's names of the containers that are judged. ffmpeg is never started on anything else. */
export const CONTAINERS = [
  'wav',
  'w64',
  'aiff',
  'au',
  'caf',
  'flac',
  'mp3',
  'aac',
  'ogg',
  'mov',
  'matroska',
  'asf',
  'amr',
  'ape',
  'wv',
  'mpc',
  'mpc8',
  'dsf',
] as const;

export type Container = (typeof CONTAINERS)[number];

/** Containers that may hold video, or more than one audio track. */
export const MANY_TRACKS: ReadonlySet<Container> = new Set<Container>(['ogg', 'mov', 'matroska', 'asf']);

const BY_MAGIC_BYTES: readonly (readonly [magic: Magic, container: Container])[] = [
  ['wave', 'wav'],
  ['wave64', 'w64'],
  ['aiff', 'aiff'],
  ['au', 'au'],
  ['caf', 'caf'],
  ['flac', 'flac'],
  ['oggVersion', 'ogg'],
  ['quickTime', 'mov'],
  ['matroska', 'matroska'],
  ['asf', 'asf'],
  ['amr', 'amr'],
  ['monkeysAudio', 'ape'],
  ['wavPack', 'wv'],
  ['musepack7', 'mpc'],
  ['musepack8', 'mpc8'],
  ['dsf', 'dsf'],
];

/** Containers that may follow an ID3 tag. None of them can hold video. */
const TAGGED: ReadonlySet<Container | null> = new Set<Container>(['flac', 'ape', 'wv', 'mpc', 'mpc8']);

const HEAD_BYTES = 64 * 1024;
const ID3_HEADER = 10;
/** Files made by joining others have several tags. */
const MAX_TAGS = 8;

/**
 * Recognises the audio container of a file by its bytes alone; null for everything that is not in the list, such as
 * text, images and playlists. A file with an ID3 tag is MP3 even if its frames are broken. Reads at positions, a few
 * times 64 KiB.
 */
export async function recogniseContainer(file: FileHandle): Promise<Container | null> {
  let position = 0;
  for (let tags = 0; tags <= MAX_TAGS; tags++) {
    const head = await readFully(file, Buffer.allocUnsafe(HEAD_BYTES), position);
    if (position === 0) {
      const container = findByMagicBytes(head, BY_MAGIC_BYTES);
      if (container !== null) return container;
    }
    const start = Math.max(
      0,
      head.findIndex((byte) => byte !== 0),
    ); // streams may be padded in front
    const tagBytes = id3Bytes(head.subarray(start));
    if (tagBytes === 0) return streamAt(head, start) ?? (tags === 0 ? null : 'mp3');
    position += start + tagBytes;
  }
  return null;
}

/** Recognises what may follow a tag: a few containers, and streams without a file header. */
function streamAt(head: Buffer, start: number): Container | null {
  const container = findByMagicBytes(head.subarray(start), BY_MAGIC_BYTES);
  return TAGGED.has(container) ? container : framesAt(head, start);
}

/** Length of the ID3v2 tag at the beginning of `head`, with its header and footer; 0 if there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < ID3_HEADER || !hasMagicBytes(head, 'id3')) return 0;
  const sizes = [...head.subarray(6, ID3_HEADER)];
  if (head[3] === 0xff || head[4] === 0xff || sizes.some((byte) => byte > 0x7f)) return 0;
  const hasFooter = (head[5]! & 0x10) !== 0;
  return sizes.reduce((size, byte) => size * 128 + byte, 0) + ID3_HEADER * (hasFooter ? 2 : 1);
}

/**
 * Frames of MPEG audio (ISO/IEC 11172-3, 13818-3) and of AAC in ADTS (ISO/IEC 13818-7). Neither has a file header, so a
 * frame is accepted only if another of its kind, or the end of the file, follows at the length in its header.
 */

/** Kilobits per second by the header's index 1 to 14, for MPEG-1 layers I, II, III and for MPEG-2 layer I, layers II and III. */
const BIT_RATES = {
  oneI: [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  oneII: [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  oneIII: [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  twoI: [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  twoOther: [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
} as const;

/** Samples per second of MPEG-1 by the header's index; MPEG-2 has half as many, MPEG-2.5 a quarter. */
const SAMPLE_RATES = [44_100, 48_000, 32_000] as const;

const MIN_HEADER = 4;
const ADTS_HEADER = 7;

interface Frame {
  readonly kind: 'mp3' | 'aac';
  readonly bytes: number;
  /** Header bits that all frames of a stream have in common. */
  readonly stream: number;
}

/** The kind of the frames that begin at `at`: MPEG audio of any layer, or AAC; null if none do. */
export function framesAt(bytes: Buffer, at: number): 'mp3' | 'aac' | null {
  const frame = frameAt(bytes, at);
  if (frame === null) return null;
  const next = at + frame.bytes;
  if (next > bytes.length) return null;
  if (next + MIN_HEADER > bytes.length) return frame.kind; // a single one
  const following = frameAt(bytes, next);
  return following !== null && following.kind === frame.kind && following.stream === frame.stream
    ? frame.kind
    : null;
}

function frameAt(bytes: Buffer, at: number): Frame | null {
  if (at + MIN_HEADER > bytes.length || bytes[at] !== 0xff) return null;
  const second = bytes[at + 1]!;
  if ((second & 0xf6) === 0xf0) return adtsFrame(bytes, at);
  return (second & 0xe0) === 0xe0 ? mpegFrame(bytes, at) : null;
}

function mpegFrame(bytes: Buffer, at: number): Frame | null {
  const [second, third] = [bytes[at + 1]!, bytes[at + 2]!];
  const version = (second >> 3) & 3; // 3 is MPEG-1, 2 MPEG-2, 0 MPEG-2.5
  const layer = 4 - ((second >> 1) & 3); // 1 … 3
  const bitRateIndex = third >> 4;
  const rate = SAMPLE_RATES[(third >> 2) & 3];
  if (version === 1 || layer === 4 || bitRateIndex === 0 || bitRateIndex === 15 || rate === undefined)
    return null;
  const isOne = version === 3;
  const bitsPerSecond = 1000 * bitRates(isOne, layer)[bitRateIndex - 1]!;
  const sampleRate = isOne ? rate : version === 2 ? rate / 2 : rate / 4;
  const padding = (third >> 1) & 1;
  const slots = layer === 1 ? 12 : layer === 3 && !isOne ? 72 : 144;
  const length = Math.floor((slots * bitsPerSecond) / sampleRate) + padding;
  return {
    kind: 'mp3',
    bytes: layer === 1 ? length * 4 : length,
    stream: (second & 0x1e) | ((third & 0x0c) << 8),
  };
}

function bitRates(isOne: boolean, layer: number): readonly number[] {
  if (!isOne) return layer === 1 ? BIT_RATES.twoI : BIT_RATES.twoOther;
  return layer === 1 ? BIT_RATES.oneI : layer === 2 ? BIT_RATES.oneII : BIT_RATES.oneIII;
}

function adtsFrame(bytes: Buffer, at: number): Frame | null {
  if (at + ADTS_HEADER > bytes.length) return null;
  const third = bytes[at + 2]!;
  const length = ((bytes[at + 3]! & 3) << 11) | (bytes[at + 4]! << 3) | (bytes[at + 5]! >> 5);
  const hasSampleRate = ((third >> 2) & 15) < 13;
  return hasSampleRate && length >= ADTS_HEADER ? { kind: 'aac', bytes: length, stream: third & 0xfc } : null;
}
