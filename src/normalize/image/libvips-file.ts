import sharp, { type Metadata, type Sharp } from 'sharp';
import { withoutTransforms } from './avif-transforms.ts';
import { cmykToRgb } from './cmyk.ts';
import type { ImageFile } from './image-file.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameSize } from './limits.ts';
import type { Pixels } from './normal-image.ts';
import { readPngChunks } from './png-chunks.ts';
import type { ImageFormat } from './recognise.ts';
import { corrupt, Refusal } from './refusal.ts';

type LibvipsFormat = Exclude<ImageFormat, 'gif' | 'bmp' | 'ico'>;

/** Colour spaces of eight and of sixteen bits a channel, by libvips' names; others would be converted by colorimetry. */
const NARROW = new Set(['srgb', 'b-w', 'cmyk']);
const WIDE = new Set(['rgb16', 'grey16']);
/** Formats of which all decoders make the same pixels. Chroma of AVIF differs between them, and TIFF has dialects. */
const READ_ALIKE = new Set<LibvipsFormat>(['jpeg', 'png', 'webp']);

/**
 * Opens an image that libvips decodes. Throws a Refusal: `CORRUPT_MEDIA` for a broken header, `UNSUPPORTED_TYPE` for
 * kinds of samples that have no stored RGB.
 */
export async function openWithLibvips(original: Buffer, format: LibvipsFormat): Promise<ImageFile> {
  const bytes = format === 'avif' ? withoutTransforms(original) : original;
  const chunks = format === 'png' ? readPngChunks(bytes) : null;
  const header = await readHeader(bytes, 0);
  const pages = header.pages ?? 1;
  checkFrameCount(pages);
  return {
    total: chunks?.pictures ?? pages,
    decodable: pages, // of an animated PNG only the default picture
    plain: READ_ALIKE.has(format) && pages === 1 && (chunks?.harmless ?? true) && isPlain(header),
    async measure(chosen) {
      let [largest, decoded] = [0, 0];
      for (const page of chosen) {
        const { width, height } = page === 0 || format === 'webp' ? header : await readHeader(bytes, page);
        checkFrameSize(width, height);
        largest = Math.max(largest, width * height);
        decoded += width * height * (format === 'webp' ? page + 1 : 1);
      }
      checkDecodedPixels(decoded);
      return largest;
    },
    async *decode(chosen): AsyncGenerator<Pixels, void, void> {
      for (const page of chosen) yield await decodePage(bytes, page);
    },
  };
}

function open(bytes: Buffer, page: number): Sharp {
  return sharp(bytes, {
    page,
    ignoreIcc: true, // the stored colours
    failOn: 'error', // a default of 'warning' refuses files that every viewer shows
    limitInputPixels: false, // measured by our own bound
  });
}

/** Throws a Refusal for a header that cannot be read, and for samples that are not 8 or 16 bits of RGB, grey or CMYK. */
async function readHeader(bytes: Buffer, page: number): Promise<Metadata> {
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

function isPlain({ depth, space, hasAlpha, hasProfile, orientation }: Metadata): boolean {
  return depth === 'uchar' && space !== 'cmyk' && !hasAlpha && !hasProfile && (orientation ?? 1) === 1;
}

async function decodePage(bytes: Buffer, page: number): Promise<Pixels> {
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
