import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import { pngFile } from '../png.ts';
import { tiffFile, type TiffField, type TiffPage } from './tiff.ts';

/** Images of some kilobytes that ask their decoder for far more than they show, each under its own name. */

/** Fields of a grey page of 8 bits, compressed by deflate; tags in ascending order. */
function greyFields(width: number, height: number, samples = 1): TiffField[] {
  return [
    [256, 32, width],
    [257, 32, height],
    [258, 16, ...Array<number>(samples).fill(8)],
    [259, 16, 8],
    [262, 16, 1],
    [273, 32, 0],
    [277, 16, samples],
    [278, 32, height],
    [279, 32, 0],
    ...(samples > 1 ? [[338, 16, ...Array<number>(samples - 1).fill(0)] as const] : []),
  ];
}

const zeros = (bytes: number): Buffer => deflateSync(Buffer.alloc(bytes), { level: 9 });

/** One strip of black, however long an edge is. */
export function tiffEdges(width: number, height: number, samples = 1): Buffer {
  return tiffFile([{ fields: greyFields(width, height, samples), data: zeros(width * height * samples) }]);
}

/** Black in tiles that may be larger than the page. */
export function tiffTiles(width: number, height: number, tileEdge: number): Buffer {
  const tiles = Array<number>(Math.ceil(width / tileEdge) * Math.ceil(height / tileEdge)).fill(0);
  const fields: TiffField[] = [
    ...greyFields(width, height).filter(([tag]) => tag < 273),
    [277, 16, 1],
    [322, 32, tileEdge],
    [323, 32, tileEdge],
    [324, 32, ...tiles],
    [325, 32, ...tiles],
  ];
  return tiffFile([{ fields, data: zeros(tileEdge * tileEdge) }]);
}

/** Pages of one pixel each. */
export function tiffPages(count: number): Buffer {
  const page: TiffPage = { fields: greyFields(1, 1), data: zeros(1) };
  return tiffFile(Array<TiffPage>(count).fill(page));
}

export function pngEdges(width: number, height: number, depth = 8, colourType = 0): Buffer {
  const channels = [1, 0, 3, 1, 2, 0, 4][colourType]!;
  const row = 1 + Math.ceil((width * channels * depth) / 8);
  return pngFile({ width, height, depth, colourType }, zeros(row * height));
}

export function bmpEdges(width: number, height: number): Buffer {
  const header = Buffer.alloc(54 + 8);
  header.write('BM', 0, 'latin1');
  header.writeUInt32LE(62, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(8, 28);
  header.writeUInt32LE(1, 30);
  header.writeUInt32LE(2, 46);
  // the picture ends at once, all of it skipped
  return Buffer.concat([header, Buffer.from([0, 1])]);
}

/** Frames as large as the canvas that each say at once that they end; every frame is put back afterwards. */
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

const solid = (width: number, height: number): Sharp =>
  sharp({ create: { width, height, channels: 3, background: 'navy' }, limitInputPixels: false });

export const jpegEdges = (width: number, height: number, progressive = false): Promise<Buffer> =>
  solid(width, height).jpeg({ quality: 50, progressive, chromaSubsampling: '4:4:4' }).toBuffer();

export const webpEdges = (width: number, height: number): Promise<Buffer> =>
  solid(width, height).webp({ effort: 0 }).toBuffer();

export const avifEdges = (width: number, height: number): Promise<Buffer> =>
  solid(width, height).avif({ effort: 0 }).toBuffer();

/** An animation of frames of two colours in turn. */
export async function webpFrames(width: number, height: number, frames: number): Promise<Buffer> {
  const raw = Buffer.alloc(width * height * 3 * frames);
  for (let frame = 0; frame < frames; frame += 2)
    raw.fill(255, frame * width * height * 3, (frame + 1) * width * height * 3);
  return sharp(raw, {
    raw: { width, height: height * frames, channels: 3, pageHeight: height },
    limitInputPixels: false,
  })
    .webp({ effort: 0 })
    .toBuffer();
}

/** Sixteen bits a channel with transparency, in passes over the whole picture. */
export const pngInterlaced = (width: number, height: number): Promise<Buffer> =>
  sharp({ create: { width, height, channels: 4, background: 'navy' }, limitInputPixels: false })
    .toColourspace('rgb16')
    .png({ progressive: true, compressionLevel: 9 })
    .toBuffer();
