import { checkFrameSize } from '../limits.ts';
import { corrupt, ImageRefusal } from '../limits.ts';

/** How the pixels of a bitmap are stored. */
type Storage = 'plain' | 'rle4' | 'rle8' | 'rle24';

/** The header of a Windows or OS/2 bitmap. */
export interface Dib {
  readonly width: number;
  readonly height: number;
  /** Whether the first stored row is the top row; most bitmaps start with the bottom row. */
  readonly isTopDown: boolean;
  /** Bits per pixel: 1, 2, 4 and 8 are palette indexes; 16, 24 and 32 are colours. */
  readonly bits: number;
  readonly storage: Storage;
  /** 256 colours of three bytes, red first; colours missing from the file are black. */
  readonly palette: Uint8Array;
  /** Bit masks of red, green and blue in a 16- or 32-bit pixel. */
  readonly masks: readonly [red: number, green: number, blue: number];
  /** Offset of the rows. */
  readonly pixelsAt: number;
}

/** Known header sizes: OS/2 1, OS/2 2 (short, full), Windows 3, with three masks, with four masks, version 4, version 5. */
const HEADER_SIZES: ReadonlySet<number> = new Set([12, 16, 64, 40, 52, 56, 108, 124]);
const CORE = 12;
const SHORT = 16;
const OS2 = 64;
/** Headers of at least this size contain the masks; masks follow smaller headers. */
const WITH_MASKS = 52;
const MASKS_AT = 40;

const RGB_555 = [0x7c00, 0x03e0, 0x001f] as const;
const RGB_888 = [0xff0000, 0x00ff00, 0x0000ff] as const;

const PIXEL_BITS: ReadonlySet<number> = new Set([1, 2, 4, 8, 16, 24, 32]);
const PALETTE_COLOURS = 256;

/** Compression methods by number. 3 and 4 have other meanings in an OS/2 header. */
const [PLAIN, RLE8, RLE4, BIT_FIELDS, JPEG, PNG, ALPHA_BIT_FIELDS] = [0, 1, 2, 3, 4, 5, 6];
const [OS2_HUFFMAN, OS2_RLE24] = [3, 4];

/**
 * Reads the header of a bitmap at `at` (the BITMAPINFOHEADER family of the Windows API, BITMAPCOREHEADER and
 * BITMAPINFOHEADER2 of OS/2). `pixelsAt` is the offset of the rows as given in the file header; null: they follow the
 * palette. `isIcon`: the height includes the rows of a mask. Throws an ImageRefusal for a header that contradicts itself, for
 * a picture that is too large, and for unsupported variants.
 */
export function readDib(bytes: Buffer, at: number, pixelsAt: number | null, isIcon = false): Dib {
  const headerBytes = word32(bytes, at);
  if (!HEADER_SIZES.has(headerBytes) || at + headerBytes > bytes.length) throw corrupt();
  const { width, height: signedHeight, bits } = readShape(bytes, at, headerBytes);
  const height = isIcon ? Math.floor(Math.abs(signedHeight) / 2) : Math.abs(signedHeight);
  checkFrameSize(width, height);
  if (bits === 64) throw unsupported('with 64 bits per pixel');
  const hasMethod = headerBytes > SHORT;
  const method = hasMethod ? word32(bytes, at + 16) : PLAIN;
  const storage = storageOf(method, bits, headerBytes === OS2);
  if (!PIXEL_BITS.has(bits)) throw corrupt();
  const masked = headerBytes !== OS2 && (method === BIT_FIELDS || method === ALPHA_BIT_FIELDS);
  const trailing = masked && headerBytes < WITH_MASKS ? (method === BIT_FIELDS ? 12 : 16) : 0;
  const paletteAt = at + headerBytes + trailing;
  if (paletteAt > bytes.length) throw corrupt();
  const named = hasMethod ? word32(bytes, at + 32) : 0;
  const { palette, end } = readPalette(bytes, {
    at: paletteAt,
    colours: named > 0 || bits > 8 ? named : 2 ** bits,
    colourBytes: headerBytes === CORE ? 3 : 4,
    before: pixelsAt ?? bytes.length,
  });
  return {
    width,
    height,
    isTopDown: signedHeight < 0,
    bits,
    storage,
    palette,
    masks: masked ? readMasks(bytes, at + MASKS_AT) : bits === 16 ? RGB_555 : RGB_888,
    pixelsAt: pixelsAt ?? end,
  };
}

function readShape(
  bytes: Buffer,
  at: number,
  headerBytes: number,
): { width: number; height: number; bits: number } {
  if (headerBytes === CORE) {
    return {
      width: bytes.readUInt16LE(at + 4),
      height: bytes.readUInt16LE(at + 6),
      bits: bytes.readUInt16LE(at + 10),
    };
  }
  return {
    width: bytes.readInt32LE(at + 4),
    height: bytes.readInt32LE(at + 8),
    bits: bytes.readUInt16LE(at + 14),
  };
}

function storageOf(method: number, bits: number, isOs2: boolean): Storage {
  if (method === PLAIN) return 'plain';
  if (method === RLE8 && bits === 8) return 'rle8';
  if (method === RLE4 && bits === 4) return 'rle4';
  if (isOs2) {
    if (method === OS2_RLE24 && bits === 24) return 'rle24';
    if (method === OS2_HUFFMAN) throw unsupported('with Huffman compression');
    throw corrupt();
  }
  if ((method === BIT_FIELDS || method === ALPHA_BIT_FIELDS) && (bits === 16 || bits === 32)) return 'plain';
  if (method === JPEG) throw unsupported('that wraps a JPEG');
  if (method === PNG) throw unsupported('that wraps a PNG');
  throw corrupt();
}

function unsupported(variant: string): ImageRefusal {
  return new ImageRefusal('UNSUPPORTED_TYPE', `a BMP image ${variant} is not supported: convert it to PNG`);
}

interface PaletteSpan {
  readonly at: number;
  /** Number of colours in the header. */
  readonly colours: number;
  readonly colourBytes: 3 | 4;
  /** Offset of the rows, where the palette ends at the latest. */
  readonly before: number;
}

/** Reads the colours that fit. `end` is the offset after all announced colours. */
function readPalette(
  bytes: Buffer,
  { at, colours, colourBytes, before }: PaletteSpan,
): { palette: Uint8Array; end: number } {
  const palette = new Uint8Array(PALETTE_COLOURS * 3);
  const there = Math.floor(Math.max(0, Math.min(before, bytes.length) - at) / colourBytes);
  const read = Math.min(colours, PALETTE_COLOURS, there);
  for (let colour = 0; colour < read; colour++) {
    const from = at + colour * colourBytes;
    palette.set([bytes[from + 2]!, bytes[from + 1]!, bytes[from]!], colour * 3);
  }
  return { palette, end: at + colours * colourBytes };
}

function readMasks(bytes: Buffer, at: number): readonly [number, number, number] {
  return [word32(bytes, at), word32(bytes, at + 4), word32(bytes, at + 8)];
}

function word32(bytes: Buffer, at: number): number {
  if (at + 4 > bytes.length) throw corrupt();
  return bytes.readUInt32LE(at);
}
