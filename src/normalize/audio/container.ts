import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../../files/read-fully.ts';
import { framesAt } from './mpeg-frame.ts';

/** ffmpeg's names of the containers that are judged. Nothing else is ever given to it. */
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

/** Those that may hold moving pictures, or more than one track of sound. */
export const MANY_TRACKS: ReadonlySet<Container> = new Set<Container>(['ogg', 'mov', 'matroska', 'asf']);

/** How a container's first bytes read as Latin-1. */
const SIGNATURES: readonly (readonly [signature: RegExp, container: Container])[] = [
  [/^(?:RIFF|RIFX|RF64|BW64)....WAVE/s, 'wav'],
  [/^riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00/, 'w64'],
  [/^FORM....AIF[FC]/s, 'aiff'],
  [/^\.snd/, 'au'],
  [/^caff\0\x01/, 'caf'],
  [/^fLaC/, 'flac'],
  [/^OggS\0/, 'ogg'],
  // QuickTime files from before ftyp begin with one of the other atoms
  [/^(?:[\0-\x0f]...(?:ftyp|moov|wide|free|skip|pnot)|....mdat)/s, 'mov'],
  [/^\x1a\x45\xdf\xa3/, 'matroska'],
  [/^\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c/, 'asf'],
  [/^#!AMR(?:-WB)?\n/, 'amr'],
  // Monkey's Audio behind its letters has a version of 3584 to 4095, WavPack behind a length 0x402 to 0x410
  [/^MAC .[\x0e\x0f]/s, 'ape'],
  [/^wvpk....[\x02-\x10]\x04/s, 'wv'],
  [/^MP\+[\x07\x17]/, 'mpc'],
  [/^MPCKSH[\0-\x1f]/, 'mpc8'],
  [/^DSD \x1c\0{7}/, 'dsf'],
];

/** What may stand behind an ID3 tag and has a signature. Video does not get in that way. */
const TAGGED: ReadonlySet<Container | null> = new Set<Container>(['flac', 'ape', 'wv', 'mpc', 'mpc8']);

const HEAD_BYTES = 64 * 1024;
const ID3_HEADER = 10;
/** Files made by joining others have several tags; more than this is no music. */
const MAX_TAGS = 8;

/**
 * Which audio container a file is, told by its bytes alone, whatever its name: null for everything that is none of the
 * list, among it text, pictures and playlists. What an ID3 tag announces is MP3 even where its frames are broken. Reads at positions, a few times 64 KiB.
 */
export async function recogniseContainer(file: FileHandle): Promise<Container | null> {
  let position = 0;
  for (let tags = 0; tags <= MAX_TAGS; tags++) {
    const head = await readFully(file, Buffer.allocUnsafe(HEAD_BYTES), position);
    if (position === 0) {
      const container = bySignature(head);
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

function bySignature(head: Buffer): Container | null {
  const start = head.toString('latin1', 0, 32);
  return SIGNATURES.find(([signature]) => signature.test(start))?.[1] ?? null;
}

/** What may stand behind a tag: a few containers, and streams that have no header. */
function streamAt(head: Buffer, start: number): Container | null {
  const container = bySignature(head.subarray(start));
  return TAGGED.has(container) ? container : framesAt(head, start);
}

/** Length of the ID3v2 tag that `head` begins with, its header and footer included; 0 when there is none. */
function id3Bytes(head: Buffer): number {
  if (head.length < ID3_HEADER || head.toString('latin1', 0, 3) !== 'ID3') return 0;
  const sizes = [...head.subarray(6, ID3_HEADER)];
  if (head[3] === 0xff || head[4] === 0xff || sizes.some((byte) => byte > 0x7f)) return 0;
  const hasFooter = (head[5]! & 0x10) !== 0;
  return sizes.reduce((size, byte) => size * 128 + byte, 0) + ID3_HEADER * (hasFooter ? 2 : 1);
}
