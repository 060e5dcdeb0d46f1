import { REPLACEMENT } from './likely-encoding.ts';

/** Converts the bytes of a file to UTF-8, piece by piece. */
export interface Decoder {
  write(chunk: Buffer): Buffer;
  end(): Buffer;
}

/**
 * Replacement for bytes that are undefined in the file's encoding. Never valid in UTF-8, so only the record that
 * contains it is reported as wrongly encoded.
 */
const UNDECODABLE = Buffer.of(0xff);

export const UTF8_BOM = Buffer.of(0xef, 0xbb, 0xbf);

const MARK_BYTES = { 'utf-8': 3, 'utf-16le': 2, 'utf-16be': 2 };

/** Number of bytes in the byte order mark at the beginning of a file; 0 if there is none. */
export function markBytes(head: Buffer): number {
  const encoding = encodingByMark(head);
  return encoding === null ? 0 : MARK_BYTES[encoding];
}

/** The encoding indicated by the byte order mark; null if there is none. */
export function encodingByMark(head: Buffer): keyof typeof MARK_BYTES | null {
  if (head.subarray(0, 3).equals(UTF8_BOM)) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return null;
}

/**
 * Chooses the decoder for a file that starts with `head`: by the byte order mark, which has priority and is skipped, or
 * else by `encoding` (a WHATWG label), or else UTF-8. Throws RangeError for an unknown label.
 */
export function chooseDecoder(encoding: string | null, head: Buffer): Decoder {
  const mark = encodingByMark(head);
  const label = mark ?? (encoding === null ? 'utf-8' : new TextDecoder(encoding).encoding);
  return skipFirst(markBytes(head), decoderOf(label));
}

function decoderOf(label: string): Decoder {
  switch (label) {
    case 'utf-8':
      return { write: (chunk) => chunk, end: () => Buffer.alloc(0) };
    case 'utf-16le':
    case 'utf-16be':
      return utf16Decoder(label === 'utf-16be');
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

/** Encodes the parts of a text as UTF-8, with `UNDECODABLE` between them. */
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

/** Unpaired surrogates are undecodable, and so is an incomplete unit at the end. */
function utf16Decoder(isBigEndian: boolean): Decoder {
  let rest: Buffer = Buffer.alloc(0);
  return {
    write: (chunk) => {
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const units = bytes.length - (bytes.length % 2);
      const lastHigh = bytes[units - (isBigEndian ? 2 : 1)];
      const isPairOpen = lastHigh !== undefined && (lastHigh & 0xfc) === 0xd8;
      const end = isPairOpen ? units - 2 : units;
      rest = Buffer.from(bytes.subarray(end));
      const whole = bytes.subarray(0, end);
      const text = (isBigEndian ? Buffer.from(whole).swap16() : whole).toString('utf16le');
      return markUndecodable(text.split(/\p{Surrogate}/u));
    },
    end: () => (rest.length === 0 ? rest : markUndecodable(['', ''])),
  };
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
