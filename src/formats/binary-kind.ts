import { isUtf8 } from 'node:buffer';
import { encodingByMark } from './encoding/decoder.ts';
import { isMostlyNotUtf8 } from './encoding/likely-encoding.ts';
import { hasMagicBytes, findByMagicBytes, type Magic } from '../domain/magic-bytes.ts';
import type { Modality } from '../domain/request.ts';

/** Type of a binary file, detected from its first bytes. */
interface BinaryKind {
  /** Name for messages, with an article if it needs one. */
  readonly name: string;
  readonly modality: Modality | null;
  /** Whether files of this kind are decoded and sent to the guard. The decoder may still reject them. */
  readonly isJudged: boolean;
}

const IMAGE: BinaryKind = { name: 'an image', modality: 'image', isJudged: true };
const AUDIO: BinaryKind = { name: 'audio', modality: 'audio', isJudged: true };
/** A video's modality is that of its sound, because a guard has no other for it. */
const VIDEO: BinaryKind = { name: 'video', modality: 'audio', isJudged: true };
const OTHER_VIDEO = unjudged('video in a format that is not read');
const COMPOUND_FILE = unjudged('an office document');
const ENCRYPTED_DOCUMENT = unjudged('an encrypted office document');
/** Name of the stream that holds a document encrypted with a password ([MS-OFFCRYPTO], 2.3.4.4). */
const ENCRYPTED = Buffer.from('EncryptedPackage', 'utf16le');
const ARCHIVE = unjudged('an archive');
const PROGRAM = unjudged('a program');
const BINARY = unjudged('a binary file');
/** Its rows are judged if it is a source, but not inside a record or compressed as a whole. */
export const PARQUET = unjudged('a Parquet file');

function unjudged(name: string, modality: Modality | null = null): BinaryKind {
  return { name, modality, isJudged: false };
}

/** Kinds by magic bytes that never begin plain text. */
const BY_MAGIC_BYTES: readonly (readonly [magic: Magic, kind: BinaryKind])[] = [
  ['png', IMAGE],
  ['jpeg', IMAGE],
  ['tiff', IMAGE],
  ['bmp', IMAGE],
  ['ico', unjudged('an image (ICO)', 'image')],
  ['utf32', unjudged('text in UTF-32')],
  ['photoshop', unjudged('an image (Photoshop)', 'image')],
  ['jpeg2000', unjudged('an image (JPEG 2000)', 'image')],
  ['jpegXlBoxes', unjudged('an image (JPEG XL)', 'image')],
  ['dds', unjudged('an image (DDS)', 'image')],
  ['id3Version', AUDIO],
  ['flacBlock', AUDIO],
  ['oggVersion', AUDIO],
  ['wave64Start', AUDIO],
  ['auHeader', AUDIO],
  ['caf', AUDIO],
  ['monkeysAudio', AUDIO],
  ['wavPack', AUDIO],
  ['musepack7', AUDIO],
  ['musepack8', AUDIO],
  ['dsf', AUDIO],
  ['flv', OTHER_VIDEO],
  ['mpegProgram', OTHER_VIDEO],
  ['zip', unjudged('an archive or an office document')],
  ['compoundFile', COMPOUND_FILE],
  ['sevenZip', ARCHIVE],
  ['rar', ARCHIVE],
  ['xz', ARCHIVE],
  ['sqlite', unjudged('a SQLite database')],
  ['elf', PROGRAM],
  ['epsPreview', unjudged('a PostScript document')],
];

/**
 * Kinds by magic bytes that are letters in some encoding, so plain text may begin with them too. They count only if
 * followed by bytes that do not occur in text.
 */
const BY_WORDLIKE_MAGIC_BYTES: readonly (readonly [magic: Magic, kind: BinaryKind])[] = [
  ['gif', IMAGE],
  ['webp', IMAGE],
  ['avif', IMAGE],
  ['heic', IMAGE],
  ['jpegXl', unjudged('an image (JPEG XL)', 'image')],
  ['pnm', unjudged('an image (PNM)', 'image')],
  ['wave', AUDIO],
  ['aiff', AUDIO],
  ['amr', AUDIO],
  ['m4a', AUDIO],
  ['mpegAudioFrame', AUDIO],
  ['aacFrame', AUDIO],
  ['avi', VIDEO],
  ['flic', unjudged('an animation (FLIC)')],
  ['bzip2', ARCHIVE],
  ['zstandard', ARCHIVE],
  ['parquet', PARQUET],
  ['pdf', unjudged('a PDF document')],
  ['dosProgram', PROGRAM],
];

/** Containers of audio or video. As in the table above, some of their magic bytes are letters. */
const CONTAINERS: readonly Magic[] = ['isoBox', 'matroska', 'asfStart'];

/** Track headers in such a container: ISO handler type, prefix of a Matroska codec ID. */
const AUDIO_TRACK = /hdlr.{8}soun|\x86[\x80-\xff]A_[A-Z]/s;
const VIDEO_TRACK = /hdlr.{8}vide|\x86[\x80-\xff]V_[A-Z]/s;

/** Kinds by file name, for files that their first bytes do not identify. */
const MEDIA_NAMES: readonly (readonly [names: RegExp, kind: BinaryKind])[] = [
  [/\.(?:jpe?g|png|gif|webp|bmp|tiff?|avif|hei[cf]|ico|tga|dds)$/i, IMAGE],
  [/\.(?:mp[23]|wav|flac|ogg|oga|opus|m4a|m4b|aac|aiff?|amr|wma|weba|webm|ape|wv|mpc|mp\+|mpp|dsf)$/i, AUDIO],
  [/\.(?:mp4|mov|mkv|avi|m4v|wmv|mpe?g|3gp|fl[ic])$/i, VIDEO],
];

/** The kind of media according to a file's name; null for other names. */
export function mediaKindByName(path: string): BinaryKind | null {
  return MEDIA_NAMES.find(([names]) => names.test(path))?.[1] ?? null;
}

/**
 * Detects the kind of a file that is not text, by its magic bytes (inflated, not decoded), or else by bytes that do not
 * occur in text; null for text. A text file with the name of a media file is neither media nor judged as text.
 * `encoding` is the one that the user named: UTF-16 text is full of zero bytes.
 */
export function binaryKind(head: Buffer, path: string, encoding: string | null): BinaryKind | null {
  const byName = mediaKindByName(path);
  const utf16 = isUtf16(head, encoding);
  const known = kindByBytes(head, byName, utf16);
  if (known === COMPOUND_FILE && head.includes(ENCRYPTED)) return ENCRYPTED_DOCUMENT;
  if (known !== null) return known;
  if (!utf16 && isNotText(head)) {
    // Audio streams may lack a header at the beginning; the decoder checks them.
    if (byName === null || byName === AUDIO) return byName ?? BINARY;
    return unjudged(`${byName.name} in an unknown format`, byName.modality);
  }
  if (byName !== null && head.length > 0) return unjudged(`text named like ${byName.name}`, byName.modality);
  return null;
}

function kindByBytes(head: Buffer, byName: BinaryKind | null, utf16: boolean): BinaryKind | null {
  const known = findByMagicBytes(head, BY_MAGIC_BYTES);
  if (known !== null) return known;
  if (utf16 || !hasBinaryHeader(head)) return null;
  const wordlike = findByMagicBytes(head, BY_WORDLIKE_MAGIC_BYTES);
  if (wordlike !== null) return wordlike;
  if (CONTAINERS.some((magic) => hasMagicBytes(head, magic))) {
    const headers = head.toString('latin1');
    if (VIDEO_TRACK.test(headers)) return VIDEO;
    // If the headers are not at the beginning, the name decides; the decoder checks again.
    return byName === VIDEO && !AUDIO_TRACK.test(headers) ? VIDEO : AUDIO;
  }
  return hasMagicBytes(head, 'tar') ? ARCHIVE : null;
}

function isUtf16(head: Buffer, encoding: string | null): boolean {
  const mark = encodingByMark(head);
  return mark === null ? (encoding?.startsWith('utf-16') ?? false) : mark !== 'utf-8';
}

/** Maximum control bytes in plain text of any size, such as the end-of-file mark of DOS. */
const MAX_STRAY_CONTROLS = 2;

/**
 * Number of bytes in which a file with magic bytes must prove to be binary: headers contain sizes, and sizes contain
 * zero bytes.
 */
const HEADER_BYTES = 512;

/** Whether the beginning of a file contains a zero byte, or more control bytes than text does. */
function hasBinaryHeader(head: Buffer): boolean {
  const { zeros, controls } = countControls(head.subarray(0, HEADER_BYTES));
  return zeros > 0 || controls > MAX_STRAY_CONTROLS;
}

const EXAMINED_BYTES = 64 * 1024;

/**
 * Percentages. Wrongly converted text has control bytes in place of quotation marks and dashes, so at most as many as
 * there are of these; every tenth of arbitrary bytes is one.
 */
const MAX_CONTROLS = 5;
const MAX_CONTROLS_WITH_ZEROS = 1;

/**
 * Whether bytes are not text in any encoding other than UTF-16: too many are control bytes, or there are zero bytes,
 * which legacy encodings do not use, and most lines are not UTF-8. Tolerates a few stray control bytes.
 */
function isNotText(head: Buffer): boolean {
  const examined = head.subarray(0, EXAMINED_BYTES);
  const { zeros, controls } = countControls(examined);
  if (controls <= MAX_STRAY_CONTROLS) return false;
  const hasZeros = zeros > MAX_STRAY_CONTROLS;
  const most = hasZeros ? MAX_CONTROLS_WITH_ZEROS : MAX_CONTROLS;
  if (controls * 100 > most * examined.length) return true;
  return hasZeros && isMostlyNotUtf8(wholeCharacters(examined), true);
}

/** Returns the bytes without an incomplete UTF-8 character at their end. */
function wholeCharacters(bytes: Buffer): Buffer {
  const MAX_REST = 3;
  for (let cut = 0; cut <= MAX_REST; cut++) {
    const whole = bytes.subarray(0, Math.max(0, bytes.length - cut));
    if (isUtf8(whole)) return whole;
  }
  return bytes;
}

/** Counts control bytes that do not occur in text, and the zero bytes among them. */
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
