import { encodingByMark } from '../formats/encoding/decoder.ts';
import type { Modality } from '../domain/request.ts';
import { layoutByName } from './recognise-layout.ts';

/** What a file that is not text holds, as far as its first bytes tell. */
export interface BinaryKind {
  /** For people, with an article. */
  readonly name: string;
  readonly modality: Modality | null;
  /** Whether files of this kind are given to the guard, once they are decoded; the decoder has the last word. */
  readonly isJudged: boolean;
}

const IMAGE: BinaryKind = { name: 'an image', modality: 'image', isJudged: true };
const AUDIO: BinaryKind = { name: 'audio', modality: 'audio', isJudged: true };
const VIDEO = unjudged('video');
const BINARY = unjudged('a binary file');
const SVG = unjudged('a drawing (SVG)', 'image');

function unjudged(name: string, modality: Modality | null = null): BinaryKind {
  return { name, modality, isJudged: false };
}

/** First bytes, in Latin-1, and what begins with them. */
const SIGNATURES: readonly (readonly [signature: RegExp, kind: BinaryKind])[] = [
  [/^\x89PNG\r\n\x1a\n/, IMAGE],
  [/^\xff\xd8\xff/, IMAGE],
  [/^GIF8[79]a/, IMAGE],
  [/^(?:II[*+]\0|MM\0[*+])/, IMAGE],
  [/^RIFF....WEBP/s, IMAGE],
  [/^[\0-\x0f]...ftyp(?:avif|avis)/s, IMAGE],
  [/^[\0-\x0f]...ftyp(?:mif1|msf1|hei[cmsx]|hev[cmsx])/s, unjudged('an image (HEIC)', 'image')],
  // a bitmap's header holds zero bytes where a text beginning with the same letters does not
  [/^BM....\0\0\0\0/s, unjudged('an image (BMP)', 'image')],
  [/^\0\0\x01\0/, unjudged('an icon (ICO)', 'image')],
  [/^8BPS\0\x01/, unjudged('an image (Photoshop)', 'image')],
  [/^\0\0\0\x0cjP {2}\r\n\x87\n/, unjudged('an image (JPEG 2000)', 'image')],
  [/^(?:\xff\x0a|\0\0\0\x0cJXL )/, unjudged('an image (JPEG XL)', 'image')],
  [/^ID3/, AUDIO],
  [/^fLaC/, AUDIO],
  [/^OggS\0/, AUDIO],
  [/^(?:RIFF|RIFX|RF64|BW64)....WAVE/s, AUDIO],
  [/^riff\x2e\x91\xcf\x11/, AUDIO],
  [/^FORM....AIF[FC]/s, AUDIO],
  [/^\.snd\0\0/, AUDIO],
  [/^caff\0\x01/, AUDIO],
  [/^#!AMR(?:-WB)?\n/, AUDIO],
  [/^[\0-\x0f]...ftypM4[AB]/s, AUDIO],
  [/^RIFF....AVI /s, VIDEO],
  [/^FLV\x01/, VIDEO],
  [/^\0\0\x01\xba/, VIDEO],
  [/^%PDF-/, unjudged('a PDF document')],
  [/^%!PS-Adobe/, unjudged('a PostScript document')],
  [/^PK\x03\x04/, unjudged('a ZIP archive or an office document')],
  [/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, unjudged('an office document')],
  [/^(?:7z\xbc\xaf|Rar!\x1a\x07|\xfd7zXZ\0|BZh[1-9]1AY|\x28\xb5\x2f\xfd)/, unjudged('an archive')],
  [/^PAR1/, unjudged('a Parquet file')],
  [/^SQLite format 3\0/, unjudged('a SQLite database')],
  [/^\x7fELF/, unjudged('a program')],
];

/** Containers of sound, with moving pictures or without: ISO media, Matroska, ASF. */
const CONTAINERS =
  /^(?:[\0-\x0f]...(?:ftyp|moov|mdat|wide|free|skip)|\x1aE\xdf\xa3|\x30\x26\xb2\x75\x8e\x66\xcf\x11)/s;

/** What stands in the headers of such a container for a track: ISO's handler, the beginning of Matroska's codec ids. */
const SOUND_TRACK = /hdlr.{8}soun|\x86[\x80-\xff]A_[A-Z]/s;
const PICTURE_TRACK = /hdlr.{8}vide|\x86[\x80-\xff]V_[A-Z]/s;

const TAR_MARK_AT = 257;

/** Names of media files, for what the first bytes do not tell. */
const MEDIA_NAMES: readonly (readonly [names: RegExp, kind: BinaryKind])[] = [
  [/\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif|hei[cf]|ico)$/i, IMAGE],
  [/\.(?:mp[23]|wav|flac|ogg|oga|opus|m4a|m4b|aac|aiff?|amr|wma|weba|webm)$/i, AUDIO],
  [/\.(?:mp4|mov|mkv|avi|m4v|wmv|mpe?g|3gp)$/i, VIDEO],
];

/** The kind of media a file's name says it is; null for other names. */
export function mediaKindByName(path: string): BinaryKind | null {
  return MEDIA_NAMES.find(([names]) => names.test(path))?.[1] ?? null;
}

/**
 * What a file holds that is not text, told by its first bytes (inflated, not decoded), else by how many of them are
 * control characters; null for text. A text that bears the name of media is none of either: it is not what it says it
 * is. `encoding` is the one the user named: UTF-16 is full of zero bytes.
 */
export function binaryKind(head: Buffer, path: string, encoding: string | null): BinaryKind | null {
  const byName = mediaKindByName(path);
  const known = kindByBytes(head, byName);
  if (known !== null) return known;
  const isMpegAudio = head[0] === 0xff && (head[1]! & 0xe6) === 0xe2;
  const isAdts = head[0] === 0xff && (head[1]! & 0xf6) === 0xf0;
  const utf16 = isUtf16(head, encoding);
  if ((isMpegAudio || isAdts) && !utf16) return AUDIO;
  if (!utf16 && hasManyControls(head)) {
    // Streams of sound may begin anywhere; whether it is one the decoder sees.
    if (byName === null || byName === AUDIO) return byName ?? BINARY;
    return unjudged(`${byName.name} in no form we know`, byName.modality);
  }
  if (byName !== null && head.length > 0) return unjudged(`text named like ${byName.name}`, byName.modality);
  return layoutByName(path) === null && isSvg(head) ? SVG : null;
}

function kindByBytes(head: Buffer, byName: BinaryKind | null): BinaryKind | null {
  const start = head.toString('latin1', 0, 32);
  const signed = SIGNATURES.find(([signature]) => signature.test(start))?.[1];
  if (signed !== undefined) return signed;
  if (CONTAINERS.test(start)) {
    const headers = head.toString('latin1');
    if (PICTURE_TRACK.test(headers)) return VIDEO;
    // Where the headers do not come first the name has to do; the decoder sees for itself.
    return byName === VIDEO && !SOUND_TRACK.test(headers) ? VIDEO : AUDIO;
  }
  return head.toString('latin1', TAR_MARK_AT, TAR_MARK_AT + 5) === 'ustar' ? unjudged('an archive') : null;
}

/** Whether a text is a drawing: its first element is svg, behind whatever XML lets stand before it. */
function isSvg(head: Buffer): boolean {
  const text = head.toString('utf8', 0, 4096).replace(/^\ufeff/, '');
  return /^\s*(?:<\?[^>]*>\s*|<!--[^]*?-->\s*|<!DOCTYPE\s[^>]*>\s*)*<(?:\w+:)?svg[\s>]/i.test(text);
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
