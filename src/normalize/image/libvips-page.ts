import sharp, { type Metadata, type Sharp } from 'sharp';
import { cmykToRgb } from './cmyk.ts';
import type { Pixels } from './normal-image.ts';
import { corrupt, Refusal } from './refusal.ts';

/** libvips' names of colour spaces with 8 and with 16 bits per channel. Others would need a colorimetric conversion. */
const NARROW = new Set(['srgb', 'b-w', 'cmyk']);
const WIDE = new Set(['rgb16', 'grey16']);

function open(bytes: Buffer, page: number): Sharp {
  return sharp(bytes, {
    page,
    ignoreIcc: true, // the stored colours
    failOn: 'error', // a default of 'warning' refuses files that every viewer shows
    limitInputPixels: false, // `checkFrameSize` applies our own limit
  });
}

/** Throws a Refusal for a header that cannot be read, and for samples that are not 8 or 16 bits of RGB, grey or CMYK. */
export async function readHeader(bytes: Buffer, page: number): Promise<Metadata> {
  const header = await open(bytes, page)
    .metadata()
    .catch((cause: unknown) => {
      throw corrupt(cause);
    });
  const { depth, space } = header;
  const supported = depth === 'uchar' ? NARROW.has(space) : depth === 'ushort' && WIDE.has(space);
  if (!supported) {
    throw new Refusal('UNSUPPORTED_TYPE', 'the image is not 8 or 16 bits of RGB or grey, or 8 bits of CMYK');
  }
  return header;
}

/** Bytes per pixel of the result of `decodePage`, and of the CMYK samples that it is converted from. */
export function outputBytesPerPixel({ space, channels }: Metadata): number {
  return space === 'cmyk' ? channels + 3 : 3;
}

/** The stored colours of a page. Throws a Refusal for broken data. */
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
