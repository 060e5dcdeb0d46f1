import type { ImageFile } from '../image-file.ts';
import { checkFrameMemory } from '../limits.ts';
import { corrupt } from '../refusal.ts';
import { decodeDib } from './decode-dib.ts';
import { readDib, type Dib } from './read-dib.ts';

const FILE_HEADER_BYTES = 14;

/** Opens a BMP file, which is decoded here because libvips does not support it. Throws a Refusal, as `readDib` does. */
export function openBmp(bytes: Buffer): ImageFile {
  if (bytes.length < FILE_HEADER_BYTES) throw corrupt();
  const pixelsAt = bytes.readUInt32LE(10);
  return dibFile(bytes, readDib(bytes, FILE_HEADER_BYTES, pixelsAt === 0 ? null : pixelsAt));
}

/** The single picture of a bitmap. Its size was already checked. */
export function dibFile(bytes: Buffer, dib: Dib): ImageFile {
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
