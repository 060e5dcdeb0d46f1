import { beginsWith } from '../../../domain/magic-bytes.ts';
import type { ImageFile } from '../image-file.ts';
import { openWithLibvips } from '../libvips-file.ts';
import { checkFrameMemory } from '../limits.ts';
import { corrupt } from '../refusal.ts';
import { decodeDib } from './decode-dib.ts';
import { type Dib, readDib } from './read-dib.ts';

const FILE_HEADER_BYTES = 14;

/** Opens a BMP file, which is decoded here because libvips does not support it. Throws a Refusal, as `readDib` does. */
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
 * per pixel, then the first. Its mask is transparency and is ignored. Throws a Refusal for a broken structure.
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
  if (beginsWith(picture, 'png')) {
    if (picture.length < PNG_SIZE_AT + 10) throw corrupt();
    const [width, height] = [picture.readUInt32BE(PNG_SIZE_AT), picture.readUInt32BE(PNG_SIZE_AT + 4)];
    return { bytes: picture, isPng: true, pixels: width * height, bits: 32 };
  }
  if (picture.length < ENTRY_BYTES) throw corrupt();
  const [width, rows] = [picture.readInt32LE(4), picture.readInt32LE(8)];
  const pixels = Math.abs(width) * Math.floor(Math.abs(rows) / 2);
  return { bytes: picture, isPng: false, pixels, bits: picture.readUInt16LE(14) };
}
