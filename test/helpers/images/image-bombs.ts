import { deflateSync } from 'node:zlib';
import { expect } from 'vitest';
import { pngFile } from '../png.ts';

/** Images of a few kilobytes that ask their decoder for far more than they contain. */

/** What an image is refused with that has too much of something. */
export const tooLarge = (reason: string) => {
  return { code: 'MEDIA_TOO_LARGE', message: expect.stringContaining(reason) as string };
};

const zeros = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes), { level: 9 });

/** A little-endian TIFF with one strip of black, compressed by deflate, however long an edge is. */
export function tiffEdges(width: number, height: number): Buffer {
  const data = zeros(width * height);
  const dataAt = 8 + 2 + 9 * 12 + 4;
  const fields = [
    [256, width],
    [257, height],
    [258, 8], // bits per sample
    [259, 8], // deflate
    [262, 1], // grey
    [273, dataAt],
    [277, 1], // samples per pixel
    [278, height],
    [279, data.length],
  ] as const;
  const header = Buffer.alloc(dataAt);
  header.write('II*\0\x08\0\0\0', 'latin1');
  header.writeUInt16LE(fields.length, 8);
  for (const [index, [tag, value]] of fields.entries()) {
    const at = 10 + index * 12;
    header.writeUInt16LE(tag, at);
    header.writeUInt16LE(4, at + 2); // 32 bits
    header.writeUInt32LE(1, at + 4);
    header.writeUInt32LE(value, at + 8);
  }
  return Buffer.concat([header, data]);
}

export function pngEdges(width: number, height: number, depth = 8, colourType = 0): Buffer {
  const channels = [1, 0, 3, 1, 2, 0, 4][colourType]!;
  const row = 1 + Math.ceil((width * channels * depth) / 8);
  return pngFile({ width, height, depth, colourType }, zeros(row * height));
}

export function bmpEdges(width: number, height: number): Buffer {
  const header = Buffer.alloc(54 + 8);
  header.write('BM', 0, 'latin1');
  header.writeUInt32LE(64, 2);
  header.writeUInt32LE(62, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(8, 28);
  header.writeUInt32LE(1, 30);
  header.writeUInt32LE(2, 46);
  // run lengths: the end of the picture
  return Buffer.concat([header, Buffer.from([0, 1])]);
}

/** Frames as large as the canvas, without data. `method` 3 restores the canvas after each frame. */
export function gifFrames(width: number, height: number, frames: number, method = 3): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt16LE(width, 0);
  size.writeUInt16LE(height, 2);
  const frame = Buffer.concat([
    Buffer.from([0x21, 0xf9, 4, method << 2, 0, 0, 0, 0, 0x2c, 0, 0, 0, 0]),
    size,
    Buffer.from([0, 7, 2, 0x80, 0x81, 0]), // clear, then end
  ]);
  return Buffer.concat([
    Buffer.from('GIF89a', 'latin1'),
    size,
    Buffer.from([0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    ...Array<Buffer>(frames).fill(frame),
    Buffer.from([0x3b]),
  ]);
}
