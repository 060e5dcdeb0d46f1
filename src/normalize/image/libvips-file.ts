import type { Metadata } from 'sharp';
import { withoutTransforms } from './avif-transforms.ts';
import type { ImageFile } from './image-file.ts';
import { decodePage, outputBytesPerPixel, readHeader } from './libvips-page.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameMemory, checkFrameSize } from './limits.ts';
import type { Pixels } from './normal-image.ts';
import { readPngChunks } from './png-chunks.ts';
import type { ImageFormat } from './recognise.ts';

type LibvipsFormat = Exclude<ImageFormat, 'gif' | 'bmp' | 'ico' | 'tiff'>;

/** Formats that all decoders read alike. The chroma of AVIF differs between decoders. */
const READ_ALIKE = new Set<LibvipsFormat>(['jpeg', 'png', 'webp']);

/**
 * Opens an image that libvips decodes. Throws a Refusal: `CORRUPT_MEDIA` for a broken header, `UNSUPPORTED_TYPE` for
 * sample formats without stored RGB.
 */
export async function openWithLibvips(original: Buffer, format: LibvipsFormat): Promise<ImageFile> {
  const bytes = format === 'avif' ? withoutTransforms(original) : original;
  const chunks = format === 'png' ? readPngChunks(bytes) : null;
  const header = await readHeader(bytes, 0);
  const pages = header.pages ?? 1;
  checkFrameCount(pages);
  return {
    total: chunks?.pictures ?? pages,
    decodable: [...Array(pages).keys()], // libvips decodes only the default picture of an animated PNG
    plain: READ_ALIKE.has(format) && pages === 1 && (chunks?.harmless ?? true) && isPlain(header),
    async measure(chosen) {
      let [largest, decoded] = [0, 0];
      for (const page of chosen) {
        const pageHeader = page === 0 || format === 'webp' ? header : await readHeader(bytes, page);
        const { width, height } = pageHeader;
        checkFrameSize(width, height);
        const perPixel = outputBytesPerPixel(pageHeader) + heldBytesPerPixel(pageHeader, format);
        largest = Math.max(largest, width * height * perPixel);
        decoded += width * height * (format === 'webp' ? page + 1 : 1);
      }
      checkDecodedPixels(decoded);
      checkFrameMemory(largest);
      return largest;
    },
    async *decode(chosen): AsyncGenerator<Pixels, void, void> {
      for (const page of chosen) yield await decodePage(bytes, page);
    },
  };
}

/** Bytes per pixel that a decoder holds for the whole picture in addition to its output (measured). */
function heldBytesPerPixel(header: Metadata, format: LibvipsFormat): number {
  const { channels, depth, isProgressive } = header;
  switch (format) {
    case 'jpeg':
      return isProgressive ? channels * 2 : 0; // coefficients
    case 'png':
      return isProgressive ? channels * (depth === 'ushort' ? 2 : 1) : 0; // all passes together
    case 'webp':
      return 5; // YUV planes, then four channels
    case 'avif':
      return depth === 'ushort' ? 30 : 15; // planes and channels, each in the decoder, in libheif and in libvips
  }
}

function isPlain({ depth, space, hasAlpha, hasProfile, orientation }: Metadata): boolean {
  return depth === 'uchar' && space !== 'cmyk' && !hasAlpha && !hasProfile && (orientation ?? 1) === 1;
}
