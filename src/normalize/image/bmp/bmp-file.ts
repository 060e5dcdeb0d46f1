import { hasMagicBytes } from '../../../domain/magic-bytes.ts';
import { openWithLibvips } from '../libvips-file.ts';
import { checkFrameMemory, corrupt } from '../limits.ts';
import type { ImageFile, Pixels } from '../normal-image.ts';
import { type Dib, readDib } from './read-dib.ts';

const FILE_HEADER_BYTES = 14;

/** Opens a BMP file, which is decoded here because libvips does not support it. Throws an ImageRefusal, as `readDib` does. */
export function openBmp(bytes: Buffer): ImageFile {
  if (bytes.length < FILE_HEADER_BYTES) throw corrupt();
  const pixelsAt = bytes.readUInt32LE(10);
  return dibFile(bytes, readDib(bytes, FILE_HEADER_BYTES, pixelsAt === 0 ? null : pixelsAt));
}

/** The single picture of a bitmap. Its size was already checked. */
function dibFile(bytes: Buffer, dib: Dib): ImageFile {
  return {
    total: 1,
    decodable: [0],
    plain: false, // guards need not support the format
    measure: async () => decodingMemory(dib),
    async *decode() {
      yield decodeDib(bytes, dib);
    },
  };
}

/** Three bytes per pixel, and the unpacked rows of run-length data. */
function decodingMemory({ width, height, storage }: Dib): number {
  const unpackedBytes = storage === 'plain' ? 0 : storage === 'rle24' ? 3 : 1;
  const bytes = width * height * (3 + unpackedBytes);
  checkFrameMemory(bytes);
  return bytes;
}

const HEADER_BYTES = 6;
const ENTRY_BYTES = 16;
/** Offset of the size in a PNG: after the signature and the length and type of the first chunk. */
const PNG_SIZE_AT = 16;

/** One picture of an icon, described by its own header. */
interface Candidate {
  /** The file from the picture on. */
  readonly bytes: Buffer;
  readonly isPng: boolean;
  readonly pixels: number;
  readonly bits: number;
}

/**
 * Opens an icon, which has the same picture in several sizes. Chooses the largest; among equals the one with most bits
 * per pixel, then the first. Its mask is transparency and is ignored. Throws an ImageRefusal for a broken structure.
 */
export async function openIco(bytes: Buffer): Promise<ImageFile> {
  if (bytes.length < HEADER_BYTES) throw corrupt();
  let best: Candidate | null = null;
  const count = bytes.readUInt16LE(4);
  for (let entry = 0; entry < count; entry++) {
    const candidate = candidateAt(bytes, HEADER_BYTES + entry * ENTRY_BYTES);
    if (best === null || isBetter(candidate, best)) best = candidate;
  }
  if (best === null) throw corrupt();
  if (!best.isPng) return dibFile(best.bytes, readDib(best.bytes, 0, null, true));
  return { ...(await openWithLibvips(best.bytes, 'png')), plain: false };
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.pixels === other.pixels ? one.bits > other.bits : one.pixels > other.pixels;
}

/** Reads the picture's own header: sizes in the icon's directory end at 256, and sizes and lengths are often wrong. */
function candidateAt(bytes: Buffer, at: number): Candidate {
  if (at + ENTRY_BYTES > bytes.length) throw corrupt();
  const from = bytes.readUInt32LE(at + 12);
  const picture = bytes.subarray(from);
  if (hasMagicBytes(picture, 'png')) {
    if (picture.length < PNG_SIZE_AT + 10) throw corrupt();
    const [width, height] = [picture.readUInt32BE(PNG_SIZE_AT), picture.readUInt32BE(PNG_SIZE_AT + 4)];
    return { bytes: picture, isPng: true, pixels: width * height, bits: 32 };
  }
  if (picture.length < ENTRY_BYTES) throw corrupt();
  const [width, rows] = [picture.readInt32LE(4), picture.readInt32LE(8)];
  const pixels = Math.abs(width) * Math.floor(Math.abs(rows) / 2);
  return { bytes: picture, isPng: false, pixels, bits: picture.readUInt16LE(14) };
}

/** Reads the stored row at `from` into the picture at `to`. */
type RowReader = (from: number, to: number) => void;

/**
 * The stored colours of a bitmap; transparency is ignored. Throws an ImageRefusal if rows are missing. Takes about 5 ns per
 * pixel.
 */
export function decodeDib(bytes: Buffer, dib: Dib): Pixels {
  const { width, height, isTopDown } = dib;
  const rgb = new Uint8Array(width * height * 3);
  const { rows, bits, firstAt } = storedRows(bytes, dib);
  const stride = Math.ceil((width * bits) / 32) * 4;
  // the padding of the last row may be missing
  if (firstAt + stride * (height - 1) + Math.ceil((width * bits) / 8) > rows.length) throw corrupt();
  const readRow = rowReader(rows, dib, bits, rgb);
  for (let stored = 0; stored < height; stored++) {
    const row = isTopDown ? stored : height - 1 - stored;
    readRow(firstAt + stored * stride, row * width * 3);
  }
  return { width, height, rgb };
}

/** The uncompressed rows: those of the file, or unpacked rows with one byte per index. */
function storedRows(bytes: Buffer, dib: Dib): { rows: Uint8Array; bits: number; firstAt: number } {
  return dib.storage === 'plain'
    ? { rows: bytes, bits: dib.bits, firstAt: dib.pixelsAt }
    : { rows: unpackRle(bytes, dib), bits: dib.storage === 'rle24' ? 24 : 8, firstAt: 0 };
}

function rowReader(rows: Uint8Array, dib: Dib, bits: number, rgb: Uint8Array): RowReader {
  if (bits <= 8) return indexReader(rows, dib, bits, rgb);
  return bits === 24 ? bgrReader(rows, dib, rgb) : maskReader(rows, dib, rgb);
}

function indexReader(rows: Uint8Array, { width, palette }: Dib, bits: number, rgb: Uint8Array): RowReader {
  const perByte = 8 / bits;
  const highest = (1 << bits) - 1;
  return (from, to) => {
    for (let column = 0; column < width; column++, to += 3) {
      const place = column % perByte;
      const index = (rows[from + (column - place) / perByte]! >> (8 - bits * (place + 1))) & highest;
      rgb[to] = palette[index * 3]!;
      rgb[to + 1] = palette[index * 3 + 1]!;
      rgb[to + 2] = palette[index * 3 + 2]!;
    }
  };
}

function bgrReader(rows: Uint8Array, { width }: Dib, rgb: Uint8Array): RowReader {
  return (from, to) => {
    for (const end = to + width * 3; to < end; from += 3, to += 3) {
      rgb[to] = rows[from + 2]!;
      rgb[to + 1] = rows[from + 1]!;
      rgb[to + 2] = rows[from]!;
    }
  };
}

/** Pixels of 16 or 32 bits, each a little-endian number. */
function maskReader(rows: Uint8Array, { width, bits, masks }: Dib, rgb: Uint8Array): RowReader {
  const channels = masks.map(channelReader);
  const bytesPerPixel = bits / 8;
  return (from, to) => {
    for (let column = 0; column < width; column++, from += bytesPerPixel) {
      let pixel = rows[from]! | (rows[from + 1]! << 8);
      if (bits === 32) pixel |= (rows[from + 2]! << 16) | (rows[from + 3]! << 24);
      for (const channel of channels) rgb[to++] = channel(pixel);
    }
  };
}

/** Scales a channel to 0..255, rounded down; a channel without bits is 0. */
function channelReader(mask: number): (pixel: number) => number {
  if (mask === 0) return () => 0;
  const shift = 31 - Math.clz32(mask & -mask);
  const highest = mask >>> shift;
  if (highest === 255) return (pixel) => (pixel >>> shift) & 255;
  return (pixel) => Math.floor((((pixel & mask) >>> shift) * 255) / highest);
}

/** Meanings of the byte after a zero. A larger byte is the number of literal pixels that follow. */
const END_OF_ROW = 0;
const END_OF_PICTURE = 1;
const MOVE = 2;

/**
 * Unpacks the run-length encoding of a bitmap (BI_RLE8 and BI_RLE4 of the Windows API, and the 24-bit one of OS/2) into
 * uncompressed rows: one byte per index or three per colour, each row padded to four bytes. Skipped pixels are index 0 or
 * black; pixels past the end of a row are dropped. Linear in the file and in the picture. Throws an ImageRefusal if the data
 * ends before the picture.
 */
function unpackRle(bytes: Buffer, { width, height, storage, pixelsAt }: Dib): Uint8Array {
  const pixelBytes = storage === 'rle24' ? 3 : 1;
  const stride = Math.ceil((width * pixelBytes) / 4) * 4;
  const rows = new Uint8Array(stride * height);
  const isHalfBytes = storage === 'rle4';
  let at = pixelsAt;
  let [column, row] = [0, 0];

  const next = (): number => {
    if (at >= bytes.length) throw corrupt();
    return bytes[at++]!;
  };
  /** Paints `count` pixels from `from` on; with step 0, repeats the first colour (or pair of half-byte indexes). */
  const paint = (from: number, count: number, step: 0 | 1): void => {
    const fitting = Math.min(count, width - column);
    const rowAt = row * stride;
    for (let pixel = 0; pixel < fitting; pixel++, column++) {
      if (isHalfBytes) {
        const pair = bytes[from + step * (pixel >> 1)]!;
        rows[rowAt + column] = pixel % 2 === 0 ? pair >> 4 : pair & 15;
      } else {
        const source = from + step * pixel * pixelBytes;
        for (let part = 0; part < pixelBytes; part++) {
          rows[rowAt + column * pixelBytes + part] = bytes[source + part]!;
        }
      }
    }
  };

  while (row < height) {
    // the end of the last row need not be marked
    if (at >= bytes.length && row === height - 1 && column === width) break;
    const count = next();
    if (count > 0) {
      const from = at;
      at += pixelBytes;
      if (at > bytes.length) throw corrupt();
      paint(from, count, 0);
      continue;
    }
    const code = next();
    if (code === END_OF_PICTURE) return rows;
    if (code === END_OF_ROW) {
      column = 0;
      row++;
    } else if (code === MOVE) {
      column = Math.min(width, column + next());
      row += next();
    } else {
      const from = at;
      const dataBytes = isHalfBytes ? Math.ceil(code / 2) : code * pixelBytes;
      at += dataBytes + (dataBytes % 2); // padded to words
      if (from + dataBytes > bytes.length) throw corrupt();
      paint(from, code, 1);
    }
  }
  return rows;
}
