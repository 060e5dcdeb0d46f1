import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../../files/read-fully.ts';
import { beginsWith, byMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import { framesAt } from './mpeg-frame.ts';

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
      const container = byMagicBytes(head, BY_MAGIC_BYTES);
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
  const container = byMagicBytes(head.subarray(start), BY_MAGIC_BYTES);
  return TAGGED.has(container) ? container : framesAt(head, start);
}

/** Length of the ID3v2 tag at the beginning of `head`, with its header and footer; 0 if there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < ID3_HEADER || !beginsWith(head, 'id3')) return 0;
  const sizes = [...head.subarray(6, ID3_HEADER)];
  if (head[3] === 0xff || head[4] === 0xff || sizes.some((byte) => byte > 0x7f)) return 0;
  const hasFooter = (head[5]! & 0x10) !== 0;
  return sizes.reduce((size, byte) => size * 128 + byte, 0) + ID3_HEADER * (hasFooter ? 2 : 1);
}
