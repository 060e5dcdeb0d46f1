import sharp from 'sharp';
import type { Metadata, Sharp } from 'sharp';
import type { Pixels } from './normal-image.ts';
import { corrupt, ImageRefusal } from './limits.ts';

/** libvips' names of colour spaces with 8 and with 16 bits per channel. Others would need a colorimetric conversion. */
const NARROW = new Set(['srgb', 'b-w', 'cmyk']);
const WIDE = new Set(['rgb16', 'grey16']);

function open(bytes: Buffer, page: number): Sharp {
  return sharp(bytes, {
    page,
    ignoreIcc: true, // keep the stored colours
    failOn: 'error', // the default of 'warning' refuses files that every viewer shows
    limitInputPixels: false, // `checkFrameSize` applies our own limit
  });
}

/**
 * Throws an ImageRefusal for a header that cannot be read, and for samples that are not 8 or 16 bits of RGB, grey or
 * CMYK.
 */
export async function readHeader(bytes: Buffer, page: number): Promise<Metadata> {
  const header = await open(bytes, page)
    .metadata()
    .catch((cause: unknown) => {
      throw corrupt(cause);
    });
  const { depth, space } = header;
  const supported = depth === 'uchar' ? NARROW.has(space) : depth === 'ushort' && WIDE.has(space);
  if (!supported) {
    throw new ImageRefusal(
      'UNSUPPORTED_TYPE',
      'the image is not 8 or 16 bits of RGB or grey, or 8 bits of CMYK: convert it to PNG',
    );
  }
  return header;
}

/** Bytes per pixel of the result of `decodePage`, and of the CMYK samples that it is converted from. */
export function outputBytesPerPixel({ space, channels }: Metadata): number {
  return space === 'cmyk' ? channels + 3 : 3;
}

/** Decodes the stored colours of a page. Throws an ImageRefusal for broken data. */
export async function decodePage(bytes: Buffer, page: number): Promise<Pixels> {
  const { space } = await readHeader(bytes, page);
  const image = open(bytes, page);
  const stored =
    space === 'cmyk'
      ? image.pipelineColourspace('cmyk').toColourspace('cmyk')
      : image.removeAlpha().toColourspace('srgb');
  const { data, info } = await stored
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true })
    .catch((cause: unknown) => {
      throw corrupt(cause);
    });
  const { width, height, channels } = info;
  if (channels < (space === 'cmyk' ? 4 : 3)) throw corrupt();
  return { width, height, rgb: space === 'cmyk' ? cmykToRgb(data, channels) : data };
}

/**
 * Converts uncalibrated CMYK to RGB: each channel is (1 - ink) x (1 - black). `cmyk` has `stride` bytes per pixel, the
 * first four of which are cyan, magenta, yellow and black; 255 is full ink. The product of two bytes is divided by 255
 * and rounded exactly. Returns three bytes per pixel.
 */
function cmykToRgb(cmyk: Uint8Array, stride: number): Uint8Array {
  const pixels = Math.floor(cmyk.length / stride);
  const rgb = new Uint8Array(pixels * 3);
  for (let pixel = 0; pixel < pixels; pixel++) {
    const from = pixel * stride;
    const to = pixel * 3;
    const light = 255 - cmyk[from + 3]!;
    for (let ink = 0; ink < 3; ink++) {
      const product = cmyk[from + ink]! * light + 128;
      rgb[to + ink] = light - (((product >> 8) + product) >> 8);
    }
  }
  return rgb;
}

/** libvips' loader classes for the supported formats. A class covers the variants for files and for memory. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Heif'];

/**
 * Configures libvips for the whole process: only the allowed loaders, no cache, one thread per image (several images
 * are decoded in parallel instead). May be called more than once.
 */
export function restrictLibvips(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS.map((loader) => `VipsForeignLoad${loader}`) });
  sharp.cache(false);
  sharp.concurrency(1);
}
