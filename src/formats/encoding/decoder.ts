import { REPLACEMENT } from './likely-encoding.ts';

/** Turns the bytes of a file into UTF-8, piece by piece. */
export interface Decoder {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

/**
 * Replaces bytes that are undefined in the file's encoding. Never valid in UTF-8, so only the record that contains it is
 * reported as wrongly encoded.
 */
const UNDECODABLE = Buffer.of(0xff);

const UTF8_BOM = Buffer.of(0xef, 0xbb, 0xbf);
const UTF32LE_BOM = Buffer.of(0xff, 0xfe, 0, 0);
const UTF32BE_BOM = Buffer.of(0, 0, 0xfe, 0xff);

/** Has no WHATWG label: detected only by the byte order mark. */
type Utf32 = 'utf-32le' | 'utf-32be';

const MARK_BYTES = { 'utf-8': 3, 'utf-16le': 2, 'utf-16be': 2, 'utf-32le': 4, 'utf-32be': 4 };

/** Number of bytes of the byte order mark that a file begins with; 0 without one. */
export function markBytes(head: Buffer): number {
  const encoding = encodingByMark(head);
  return encoding === null ? 0 : MARK_BYTES[encoding];
}

/** The encoding indicated by the byte order mark; null without one. */
export function encodingByMark(head: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' | Utf32 | null {
  if (head.subarray(0, 3).equals(UTF8_BOM)) return 'utf-8';
  if (head.subarray(0, 4).equals(UTF32BE_BOM)) return 'utf-32be';
  // Checked before UTF-16, whose mark is a prefix of this one: a text does not start with a NUL.
  if (head.subarray(0, 4).equals(UTF32LE_BOM)) return 'utf-32le';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return null;
}

/**
 * A decoder for a file that starts with `head`: by the byte order mark, which has priority and is skipped, otherwise by
 * `encoding` (a WHATWG label), otherwise UTF-8. Throws RangeError for an unknown label.
 */
export function chooseDecoder(encoding: string | null, head: Buffer): Decoder {
  const mark = encodingByMark(head);
  const label = mark ?? (encoding === null ? 'utf-8' : new TextDecoder(encoding).encoding);
  return skipFirst(markBytes(head), decoderOf(label));
}

/** ASCII text in an encoding: a WHATWG label or that of a byte order mark; null for UTF-8. */
export function asciiIn(label: string | null, text: string): Buffer {
  const name = label === null || label.startsWith('utf-32') ? label : new TextDecoder(label).encoding;
  switch (name) {
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    case 'utf-32le':
    case 'utf-32be': {
      const bytes = Buffer.alloc(4 * text.length);
      const at = name === 'utf-32be' ? 3 : 0;
      for (let index = 0; index < text.length; index++) bytes[4 * index + at] = text.charCodeAt(index);
      return bytes;
    }
    default:
      return Buffer.from(text, 'latin1');
  }
}

function decoderOf(label: string): Decoder {
  switch (label) {
    case 'utf-8':
      return { write: (chunk) => chunk, end: () => Buffer.alloc(0) };
    case 'utf-16le':
    case 'utf-16be':
      return utf16Decoder(label === 'utf-16be');
    case 'utf-32le':
    case 'utf-32be':
      return utf32Decoder(label === 'utf-32be');
    case 'windows-1252':
      return { write: (chunk) => Buffer.from(decodeWindows1252(chunk)), end: () => Buffer.alloc(0) };
    default: {
      const decoder = new TextDecoder(label);
      // Outside Unicode encodings, U+FFFD is never valid (except for one rare GB 18030 sequence).
      const mark = (text: string): Buffer => markUndecodable(text.split(REPLACEMENT));
      return {
        write: (chunk) => mark(decoder.decode(chunk, { stream: true })),
        end: () => mark(decoder.decode()),
      };
    }
  }
}

/** The parts of a text as UTF-8, with `UNDECODABLE` between them. */
function markUndecodable(parts: readonly string[]): Buffer {
  if (parts.length === 1) return Buffer.from(parts[0]!);
  return Buffer.concat(
    parts.flatMap((part, index) => (index === 0 ? [Buffer.from(part)] : [UNDECODABLE, Buffer.from(part)])),
  );
}

function skipFirst(bytes: number, decoder: Decoder): Decoder {
  if (bytes === 0) return decoder;
  let left = bytes;
  return {
    write: (chunk) => {
      const skipped = Math.min(left, chunk.length);
      left -= skipped;
      return decoder.write(chunk.subarray(skipped));
    },
    end: () => decoder.end(),
  };
}

/**
 * Decodes whole units of bytes, and keeps the rest for the next piece. `parts` returns the decodable parts of whole units;
 * an incomplete unit at the end is undecodable.
 */
function unitDecoder(unitsEnd: (bytes: Buffer) => number, parts: (bytes: Buffer) => string[]): Decoder {
  let rest: Buffer = Buffer.alloc(0);
  return {
    write: (chunk) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = unitsEnd(bytes);
      rest = Buffer.from(bytes.subarray(end));
      return markUndecodable(parts(bytes.subarray(0, end)));
    },
    end: () => (rest.length === 0 ? rest : markUndecodable(['', ''])),
  };
}

/** Unpaired surrogates are undecodable. */
function utf16Decoder(isBigEndian: boolean): Decoder {
  const isHighSurrogate = (bytes: Buffer, at: number): boolean =>
    (bytes[at + (isBigEndian ? 0 : 1)]! & 0xfc) === 0xd8;
  return unitDecoder(
    (bytes) => {
      const end = bytes.length - (bytes.length % 2);
      return end >= 2 && isHighSurrogate(bytes, end - 2) ? end - 2 : end;
    },
    (bytes) =>
      (isBigEndian ? Buffer.from(bytes).swap16() : bytes).toString('utf16le').split(/\p{Surrogate}/u),
  );
}

const MAX_CODE_POINT = 0x10ffff;

/** Invalid code points are undecodable. */
function utf32Decoder(isBigEndian: boolean): Decoder {
  return unitDecoder(
    (bytes) => bytes.length - (bytes.length % 4),
    (bytes) => {
      const parts: string[] = [];
      // A character has at most two UTF-16 units, which are four bytes too.
      const units = Buffer.allocUnsafe(bytes.length);
      let length = 0;
      for (let at = 0; at < bytes.length; at += 4) {
        const code = isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
        if (code > MAX_CODE_POINT || (code >= 0xd800 && code <= 0xdfff)) {
          parts.push(units.toString('utf16le', 0, length));
          length = 0;
        } else if (code < 0x10000) {
          length = units.writeUInt16LE(code, length);
        } else {
          length = units.writeUInt16LE(0xd800 + ((code - 0x10000) >> 10), length);
          length = units.writeUInt16LE(0xdc00 + (code & 0x3ff), length);
        }
      }
      parts.push(units.toString('utf16le', 0, length));
      return parts;
    },
  );
}

/**
 * Characters of the bytes 0x80 to 0x9f; other bytes are as in ISO 8859-1. Source: index windows-1252 of the WHATWG
 * Encoding Standard, which defines all bytes. Node's TextDecoder is not used: Node 20 decodes these bytes as control
 * characters.
 */
const HIGH_CONTROLS =
  '\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f' +
  '\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178';

function decodeWindows1252(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\u0080-\u009f]/g, (control) => HIGH_CONTROLS[control.charCodeAt(0) - 0x80]!);
}
