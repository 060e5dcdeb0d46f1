import type { Metadata } from 'sharp';
import { withoutTransforms } from './avif-transforms.ts';
import type { ImageFile } from './image-file.ts';
import { decodePage, outputBytesPerPixel, readHeader } from './libvips-page.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameMemory, checkFrameSize } from './limits.ts';
import type { Pixels } from './normal-image.ts';
import { readPngChunks } from './png-chunks.ts';
import type { ImageFormat } from './recognise.ts';

type LibvipsFormat = Exclude<ImageFormat, 'gif' | 'bmp' | 'ico' | 'tiff'>;

/** Formats of which all decoders make the same pixels. Chroma of AVIF differs between them. */
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
    decodable: [...Array(pages).keys()], // of an animated PNG only the default picture
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

/** What a decoder holds of the whole picture beside its output, a pixel: measured, and explained by how it works. */
function heldBytesPerPixel(header: Metadata, format: LibvipsFormat): number {
  const { channels, depth, isProgressive } = header;
  switch (format) {
    case 'jpeg':
      return isProgressive ? channels * 2 : 0; // coefficients
    case 'png':
      return isProgressive ? channels * (depth === 'ushort' ? 2 : 1) : 0; // all passes together
    case 'webp':
      return 5; // planes of brightness and colour, then four channels
    case 'avif':
      return depth === 'ushort' ? 30 : 15; // planes and channels, each in the decoder, its wrapper and libvips
  }
}

function isPlain({ depth, space, hasAlpha, hasProfile, orientation }: Metadata): boolean {
  return depth === 'uchar' && space !== 'cmyk' && !hasAlpha && !hasProfile && (orientation ?? 1) === 1;
}
