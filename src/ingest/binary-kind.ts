import { encodingByMark } from '../formats/encoding/decoder.ts';
import { type Modality } from '../domain/request.ts';

/** What a file that is not text holds, as far as its first bytes tell. */
export interface BinaryKind {
  /** For people, with an article. */
  readonly name: string;
  readonly modality: Modality | null;
}

const IMAGE: BinaryKind = { name: 'an image', modality: 'image' };
const AUDIO: BinaryKind = { name: 'audio', modality: 'audio' };
const VIDEO: BinaryKind = { name: 'video', modality: null };
const BINARY: BinaryKind = { name: 'a binary file', modality: null };

/** First bytes, in Latin-1, and what begins with them. */
const SIGNATURES: readonly (readonly [signature: string, kind: BinaryKind])[] = [
  ['\x89PNG\r\n\x1a\n', IMAGE],
  ['\xff\xd8\xff', IMAGE],
  ['GIF87a', IMAGE],
  ['GIF89a', IMAGE],
  ['II*\0', IMAGE],
  ['MM\0*', IMAGE],
  ['\0\0\x01\0', IMAGE],
  ['8BPS\0\x01', IMAGE],
  ['ID3', AUDIO],
  ['fLaC', AUDIO],
  ['OggS', AUDIO],
  ['\x30\x26\xb2\x75\x8e\x66\xcf\x11', AUDIO],
  ['\x1aE\xdf\xa3', VIDEO],
  ['%PDF-', { name: 'a PDF document', modality: null }],
  ['PK\x03\x04', { name: 'a ZIP archive or an office document', modality: null }],
  ['PAR1', { name: 'a Parquet file', modality: null }],
  ['SQLite format 3\0', { name: 'a SQLite database', modality: null }],
  ['\x7fELF', { name: 'a program', modality: null }],
];

/** Kinds of RIFF, AIFF and ISO media files, told by their second field. */
const CONTAINERS: readonly (readonly [offset: number, marks: RegExp, kind: BinaryKind])[] = [
  [0, /^RIFF....WEBP/s, IMAGE],
  [0, /^RIFF....WAVE/s, AUDIO],
  [0, /^FORM....AIF[FC]/s, AUDIO],
  [4, /^ftyp(?:avif|avis|mif1|msf1|hei[cmsx]|hev[cmx])/s, IMAGE],
  [4, /^ftyp(?:M4A|M4B)/s, AUDIO],
  [4, /^ftyp/s, VIDEO],
  // a bitmap's header holds zero bytes where a text beginning with the same letters does not
  [0, /^BM....\0\0\0\0/s, IMAGE],
];

/** Names of media files, for what the first bytes do not tell. */
const MEDIA_NAMES: readonly (readonly [names: RegExp, kind: BinaryKind])[] = [
  [/\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif|hei[cf]|ico)$/i, IMAGE],
  [/\.(?:mp3|wav|flac|ogg|oga|opus|m4a|aac|aiff?|wma|weba|webm)$/i, AUDIO],
  [/\.(?:mp4|mov|mkv|avi|m4v)$/i, VIDEO],
];

/** The kind of media a file's name says it is; null for other names. */
export function mediaKindByName(path: string): BinaryKind | null {
  return MEDIA_NAMES.find(([names]) => names.test(path))?.[1] ?? null;
}

/**
 * What a file holds that is not text, told by its first bytes (inflated, not decoded), else by how many of them are
 * control characters; null for text. `encoding` is the one the user named: UTF-16 is full of zero bytes.
 */
export function binaryKind(head: Buffer, path: string, encoding: string | null): BinaryKind | null {
  const start = head.toString('latin1', 0, 32);
  const known =
    SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1] ??
    CONTAINERS.find(([offset, marks]) => marks.test(start.slice(offset)))?.[2];
  const isMpegAudio = head[0] === 0xff && (head[1]! & 0xe6) === 0xe2 && !isUtf16(head, encoding);
  if (known !== undefined || isMpegAudio)
    return known === VIDEO ? (mediaKindByName(path) ?? VIDEO) : (known ?? AUDIO);
  if (isUtf16(head, encoding) || !hasManyControls(head)) return null;
  return mediaKindByName(path) ?? BINARY;
}

function isUtf16(head: Buffer, encoding: string | null): boolean {
  const mark = encodingByMark(head);
  return mark === null ? (encoding?.startsWith('utf-16') ?? false) : mark !== 'utf-8';
}

/** Control bytes a text of any size may hold, such as the end-of-file mark of DOS. */
const STRAY_CONTROLS = 2;

/** Bytes that text has no use for: more than one in a hundred means it is none. Stray ones do not. */
function hasManyControls(head: Buffer): boolean {
  const looked = head.subarray(0, 64 * 1024);
  let controls = 0;
  for (const byte of looked) {
    if (byte < 0x20 ? byte < 0x08 || (byte > 0x0d && byte !== 0x1b) : byte === 0x7f) controls++;
  }
  return controls > STRAY_CONTROLS && controls * 100 > looked.length;
}
