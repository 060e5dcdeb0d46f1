import { isUtf8 } from 'node:buffer';
import { encodingByMark } from '../../formats/encoding/decoder.ts';
import { isMostlyNotUtf8 } from '../../formats/encoding/validity.ts';
import type { Modality } from '../../domain/request.ts';

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

function unjudged(name: string, modality: Modality | null = null): BinaryKind {
  return { name, modality, isJudged: false };
}

/** First bytes, in Latin-1, that no text begins with, and what begins with them. */
const SIGNATURES: readonly (readonly [signature: RegExp, kind: BinaryKind])[] = [
  [/^\x89PNG\r\n\x1a\n/, IMAGE],
  [/^\xff\xd8\xff/, IMAGE],
  [/^(?:II[*+]\0|MM\0[*+])/, IMAGE],
  // zeros where programs reserved them, or a header of a size that exists
  [/^BM(?:....\0\0\0\0|.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0)/s, IMAGE],
  [/^\0\0\x01\0/, IMAGE],
  [/^8BPS\0\x01/, unjudged('an image (Photoshop)', 'image')],
  [/^\0\0\0\x0cjP {2}\r\n\x87\n/, unjudged('an image (JPEG 2000)', 'image')],
  [/^\0\0\0\x0cJXL /, unjudged('an image (JPEG XL)', 'image')],
  [/^DDS \x7c\0\0\0/, unjudged('an image (DDS)', 'image')],
  [/^ID3[\0-\x08]/, AUDIO],
  [/^fLaC[\0-\x06\x80-\x86]/, AUDIO],
  [/^OggS\0/, AUDIO],
  [/^riff\x2e\x91\xcf\x11/, AUDIO],
  [/^\.snd\0\0/, AUDIO],
  [/^caff\0\x01/, AUDIO],
  [/^MAC .[\x0e\x0f]/s, AUDIO],
  [/^wvpk....[\x02-\x10]\x04/s, AUDIO],
  [/^(?:MP\+[\x07\x17]|MPCKSH[\0-\x1f])/, AUDIO],
  [/^DSD \x1c\0{7}/, AUDIO],
  [/^FLV\x01/, VIDEO],
  [/^\0\0\x01\xba/, VIDEO],
  [/^PK(?:\x03\x04|\x05\x06|\x07\x08)/, unjudged('a ZIP archive or an office document')],
  [/^\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1/, unjudged('an office document')],
  [/^(?:7z\xbc\xaf\x27\x1c|Rar!\x1a\x07|\xfd7zXZ\0)/, unjudged('an archive')],
  [/^SQLite format 3\0/, unjudged('a SQLite database')],
  [/^\x7fELF/, unjudged('a program')],
  [/^\xc5\xd0\xd3\xc6[\0-\xff]{3}\0/, unjudged('a PostScript document')],
];

/**
 * The same for first bytes that are letters in some encoding, so that a text may begin with them as well. They decide
 * only before bytes that no text holds.
 */
const WORDLIKE_SIGNATURES: readonly (readonly [signature: RegExp, kind: BinaryKind])[] = [
  [/^GIF8[79]a/, IMAGE],
  [/^RIFF....WEBP/s, IMAGE],
  [/^[\0-\x0f]...ftyp(?:avif|avis)/s, IMAGE],
  [/^[\0-\x0f]...ftyp(?:mif1|msf1|hei[cmsx]|hev[cmsx])/s, unjudged('an image (HEIC)', 'image')],
  [/^\xff\x0a/, unjudged('an image (JPEG XL)', 'image')],
  [/^P[4-7]\s/, unjudged('an image (PNM)', 'image')],
  [/^(?:RIFF|RIFX|RF64|BW64)....WAVE/s, AUDIO],
  [/^FORM....AIF[FC]/s, AUDIO],
  [/^#!AMR(?:-WB)?\n/, AUDIO],
  [/^[\0-\x0f]...ftypM4[AB]/s, AUDIO],
  [/^\xff[\xe2-\xe7\xf2-\xf7\xfa-\xff]/, AUDIO], // a frame of MPEG audio
  [/^\xff[\xf0\xf1\xf8\xf9]/, AUDIO], // a frame of AAC
  [/^RIFF....AVI /s, VIDEO],
  [/^....[\x11\x12]\xaf/s, unjudged('an animation (FLIC)')],
  [/^(?:BZh[1-9]1AY&SY|\x28\xb5\x2f\xfd)/, unjudged('an archive')],
  [/^PAR1/, unjudged('a Parquet file')],
  [/^%PDF-/, unjudged('a PDF document')],
  [/^MZ/, unjudged('a program')],
];

/** Containers of sound, with moving pictures or without: ISO media, Matroska, ASF. Letters in part, as above. */
const CONTAINERS =
  /^(?:[\0-\x0f]...(?:ftyp|moov|mdat|wide|free|skip)|\x1aE\xdf\xa3|\x30\x26\xb2\x75\x8e\x66\xcf\x11)/s;

/** What stands in the headers of such a container for a track: ISO's handler, the beginning of Matroska's codec ids. */
const SOUND_TRACK = /hdlr.{8}soun|\x86[\x80-\xff]A_[A-Z]/s;
const PICTURE_TRACK = /hdlr.{8}vide|\x86[\x80-\xff]V_[A-Z]/s;

const TAR_MARK_AT = 257;

/** Names of media files, for what the first bytes do not tell. */
const MEDIA_NAMES: readonly (readonly [names: RegExp, kind: BinaryKind])[] = [
  [/\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif|hei[cf]|ico|tga|dds)$/i, IMAGE],
  [/\.(?:mp[23]|wav|flac|ogg|oga|opus|m4a|m4b|aac|aiff?|amr|wma|weba|webm|ape|wv|mpc|mp\+|mpp|dsf)$/i, AUDIO],
  [/\.(?:mp4|mov|mkv|avi|m4v|wmv|mpe?g|3gp|fl[ic])$/i, VIDEO],
];

/** The kind of media a file's name says it is; null for other names. */
export function mediaKindByName(path: string): BinaryKind | null {
  return MEDIA_NAMES.find(([names]) => names.test(path))?.[1] ?? null;
}

/**
 * What a file holds that is not text, told by its first bytes (inflated, not decoded), else by what of them no text
 * holds; null for text. A text that bears the name of media is none of either: it is not what it says it is.
 * `encoding` is the one the user named: UTF-16 is full of zero bytes.
 */
export function binaryKind(head: Buffer, path: string, encoding: string | null): BinaryKind | null {
  const byName = mediaKindByName(path);
  const utf16 = isUtf16(head, encoding);
  const known = kindByBytes(head, byName, utf16);
  if (known !== null) return known;
  if (!utf16 && isNoText(head)) {
    // Streams of sound may begin anywhere; whether it is one the decoder sees.
    if (byName === null || byName === AUDIO) return byName ?? BINARY;
    return unjudged(`${byName.name} in no form we know`, byName.modality);
  }
  if (byName !== null && head.length > 0) return unjudged(`text named like ${byName.name}`, byName.modality);
  return null;
}

function kindByBytes(head: Buffer, byName: BinaryKind | null, utf16: boolean): BinaryKind | null {
  const start = head.toString('latin1', 0, 32);
  const signed = SIGNATURES.find(([signature]) => signature.test(start))?.[1];
  if (signed !== undefined) return signed;
  if (utf16 || !beginsLikeNoText(head)) return null;
  const wordlike = WORDLIKE_SIGNATURES.find(([signature]) => signature.test(start))?.[1];
  if (wordlike !== undefined) return wordlike;
  if (CONTAINERS.test(start)) {
    const headers = head.toString('latin1');
    if (PICTURE_TRACK.test(headers)) return VIDEO;
    // Where the headers do not come first the name has to do; the decoder sees for itself.
    return byName === VIDEO && !SOUND_TRACK.test(headers) ? VIDEO : AUDIO;
  }
  return head.toString('latin1', TAR_MARK_AT, TAR_MARK_AT + 5) === 'ustar' ? unjudged('an archive') : null;
}

function isUtf16(head: Buffer, encoding: string | null): boolean {
  const mark = encodingByMark(head);
  return mark === null ? (encoding?.startsWith('utf-16') ?? false) : mark !== 'utf-8';
}

/** Control bytes a text of any size may hold, such as the end-of-file mark of DOS. */
const STRAY_CONTROLS = 2;

/** Within so many bytes, what bears a signature shows whether it is binary: headers hold sizes, and sizes zero bytes. */
const HEADER_BYTES = 512;

/** Whether what follows a signature is more than words: a zero byte, or more control bytes than stray ones. */
function beginsLikeNoText(head: Buffer): boolean {
  const { zeros, controls } = countControls(head.subarray(0, HEADER_BYTES));
  return zeros > 0 || controls > STRAY_CONTROLS;
}

const LOOKED_BYTES = 64 * 1024;

/**
 * Whether bytes are text in no encoding (UTF-16 aside): more than one in a hundred is a control byte; or there are
 * zero bytes, which older encodings have no use for, and most lines are not UTF-8 either. Stray ones count for nothing.
 */
function isNoText(head: Buffer): boolean {
  const looked = head.subarray(0, LOOKED_BYTES);
  const { zeros, controls } = countControls(looked);
  if (controls <= STRAY_CONTROLS) return false;
  if (controls * 100 > looked.length) return true;
  return zeros > STRAY_CONTROLS && isMostlyNotUtf8(wholeCharacters(looked), true);
}

/** Bytes without the character that their end may cut. */
function wholeCharacters(bytes: Buffer): Buffer {
  const MAX_REST = 3;
  for (let cut = 0; cut <= MAX_REST; cut++) {
    const whole = bytes.subarray(0, Math.max(0, bytes.length - cut));
    if (isUtf8(whole)) return whole;
  }
  return bytes;
}

/** Bytes that text has no use for, and how many of them are zero. */
function countControls(bytes: Buffer): { readonly zeros: number; readonly controls: number } {
  let zeros = 0;
  let controls = 0;
  for (const byte of bytes) {
    if (byte < 0x20 ? byte < 0x08 || (byte > 0x0d && byte !== 0x1b) : byte === 0x7f) {
      controls++;
      if (byte === 0) zeros++;
    }
  }
  return { zeros, controls };
}
