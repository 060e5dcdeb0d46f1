import { isUtf8 } from 'node:buffer';
import { encodingByMark } from '../../formats/encoding/decoder.ts';
import { isMostlyNotUtf8 } from '../../formats/encoding/validity.ts';
import { beginsWith, byMagicBytes, type Magic } from '../../domain/magic-bytes.ts';
import type { Modality } from '../../domain/request.ts';

/** What a file that is not text holds, as far as its first bytes tell. */
interface BinaryKind {
  /** For people, with an article. */
  readonly name: string;
  readonly modality: Modality | null;
  /** Whether files of this kind are given to the guard, once they are decoded; the decoder has the last word. */
  readonly isJudged: boolean;
}

const IMAGE: BinaryKind = { name: 'an image', modality: 'image', isJudged: true };
const AUDIO: BinaryKind = { name: 'audio', modality: 'audio', isJudged: true };
const VIDEO = unjudged('video');
const ARCHIVE = unjudged('an archive');
const PROGRAM = unjudged('a program');
const BINARY = unjudged('a binary file');

function unjudged(name: string, modality: Modality | null = null): BinaryKind {
  return { name, modality, isJudged: false };
}

/** What files hold whose first bytes no text begins with. */
const BY_MAGIC_BYTES: readonly (readonly [magic: Magic, kind: BinaryKind])[] = [
  ['png', IMAGE],
  ['jpeg', IMAGE],
  ['tiff', IMAGE],
  ['bmp', IMAGE],
  ['ico', IMAGE],
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
  ['flv', VIDEO],
  ['mpegProgram', VIDEO],
  ['zip', unjudged('a ZIP archive or an office document')],
  ['compoundFile', unjudged('an office document')],
  ['sevenZip', ARCHIVE],
  ['rar', ARCHIVE],
  ['xz', ARCHIVE],
  ['sqlite', unjudged('a SQLite database')],
  ['elf', PROGRAM],
  ['epsPreview', unjudged('a PostScript document')],
];

/**
 * The same for first bytes that are letters in some encoding, so that a text may begin with them as well. They decide
 * only before bytes that no text holds.
 */
const BY_WORDLIKE_MAGIC_BYTES: readonly (readonly [magic: Magic, kind: BinaryKind])[] = [
  ['gif', IMAGE],
  ['webp', IMAGE],
  ['avif', IMAGE],
  ['heic', unjudged('an image (HEIC)', 'image')],
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
  ['parquet', unjudged('a Parquet file')],
  ['pdf', unjudged('a PDF document')],
  ['dosProgram', PROGRAM],
];

/** Containers of sound, with moving pictures or without. Letters in part, as above. */
const CONTAINERS: readonly Magic[] = ['isoBox', 'matroska', 'asfStart'];

/** What stands in the headers of such a container for a track: ISO's handler, the beginning of Matroska's codec ids. */
const SOUND_TRACK = /hdlr.{8}soun|\x86[\x80-\xff]A_[A-Z]/s;
const PICTURE_TRACK = /hdlr.{8}vide|\x86[\x80-\xff]V_[A-Z]/s;

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
  const known = byMagicBytes(head, BY_MAGIC_BYTES);
  if (known !== null) return known;
  if (utf16 || !beginsLikeNoText(head)) return null;
  const wordlike = byMagicBytes(head, BY_WORDLIKE_MAGIC_BYTES);
  if (wordlike !== null) return wordlike;
  if (CONTAINERS.some((magic) => beginsWith(head, magic))) {
    const headers = head.toString('latin1');
    if (PICTURE_TRACK.test(headers)) return VIDEO;
    // Where the headers do not come first the name has to do; the decoder sees for itself.
    return byName === VIDEO && !SOUND_TRACK.test(headers) ? VIDEO : AUDIO;
  }
  return beginsWith(head, 'tar') ? ARCHIVE : null;
}

function isUtf16(head: Buffer, encoding: string | null): boolean {
  const mark = encodingByMark(head);
  return mark === null ? (encoding?.startsWith('utf-16') ?? false) : mark !== 'utf-8';
}

/** Control bytes a text of any size may hold, such as the end-of-file mark of DOS. */
const STRAY_CONTROLS = 2;

/**
 * Within so many bytes, what bears a signature shows whether it is binary: headers hold sizes, and sizes zero bytes.
 */
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
