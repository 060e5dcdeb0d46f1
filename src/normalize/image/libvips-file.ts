import type { Metadata } from 'sharp';
import type { ImageFile, Pixels } from './normal-image.ts';
import { decodePage, outputBytesPerPixel, readHeader } from './libvips-page.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameMemory, checkFrameSize, corrupt } from './limits.ts';
import type { ImageFormat } from './recognise.ts';

type LibvipsFormat = Exclude<ImageFormat, 'gif' | 'bmp' | 'ico' | 'tiff'>;

/** Formats that all decoders read alike. The chroma of AVIF differs between decoders. */
const READ_ALIKE = new Set<LibvipsFormat>(['jpeg', 'png', 'webp']);

/**
 * Opens an image that libvips decodes. Throws an ImageRefusal: `CORRUPT_MEDIA` for a broken header, `UNSUPPORTED_TYPE` for
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

const SIGNATURE_BYTES = 8;
/** Length, type and checksum. */
const CHUNK_OVERHEAD = 12;

/** Chunks that do not change how a decoder reads the colours (PNG specification, third edition). */
const HARMLESS = new Set([
  'IHDR',
  'PLTE',
  'IDAT',
  'IEND',
  'sRGB',
  'pHYs',
  'bKGD',
  'hIST',
  'tIME',
  'tEXt',
  'zTXt',
  'iTXt',
]);

interface PngChunks {
  /** Pictures in the file: 1, or the frames of an animated PNG, plus the default picture if it is not one of them. */
  readonly pictures: number;
  /** Whether there are no chunks that can change the colours. */
  readonly harmless: boolean;
}

/** Walks the chunks of a PNG; the decoder checks their checksums. Throws an ImageRefusal for a truncated file. */
export function readPngChunks(bytes: Buffer): PngChunks {
  let frames = 0;
  let isDefaultAFrame = false;
  let sawData = false;
  let harmless = true;
  for (let at = SIGNATURE_BYTES; ;) {
    if (at + CHUNK_OVERHEAD > bytes.length) throw corrupt();
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const dataAt = at + 8;
    at += CHUNK_OVERHEAD + length;
    if (at > bytes.length) throw corrupt();
    if (type === 'acTL' && length >= 4) frames = bytes.readUInt32BE(dataAt);
    if (type === 'fcTL' && !sawData) isDefaultAFrame = true;
    if (type === 'IDAT') sawData = true;
    if (!HARMLESS.has(type)) harmless = false;
    if (type === 'IEND') break;
  }
  return { pictures: Math.max(1, frames + (isDefaultAFrame ? 0 : 1)), harmless };
}

/** Boxes that contain the properties of a picture (ISO/IEC 14496-12 and 23008-12). */
const META = 'meta';
const CONTAINERS = new Set(['iprp', 'ipco']);
/** Version and flags at the beginning of the contents of a `meta` box. */
const FULL_BOX_BYTES = 4;
const HEADER_BYTES = 8;

/** Rotation and mirroring. Both have a body of one byte, so that one can overwrite the other. */
const TRANSFORMS = new Set(['irot', 'imir']);

/**
 * A copy of an AVIF file without rotation and mirroring: each such property becomes a rotation by 0. The decoder always
 * applies these properties, but normal form has the pixels as stored. Broken boxes are left for the decoder to report.
 * Returns the file itself if there is nothing to undo.
 */
export function withoutTransforms(bytes: Buffer): Buffer {
  const found = [...transforms(bytes, 0, bytes.length)];
  if (found.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  for (const at of found) {
    copy.write('irot', at + 4, 'latin1');
    copy[at + HEADER_BYTES] = 0;
  }
  return copy;
}

/** Positions of such boxes. */
function* transforms(bytes: Buffer, from: number, end: number): Generator<number, void, void> {
  for (let at = from; at + HEADER_BYTES <= end;) {
    const size = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + HEADER_BYTES);
    const boxEnd = size === 0 ? end : at + size;
    if ((size !== 0 && size < HEADER_BYTES) || boxEnd > end) return;
    if (TRANSFORMS.has(type) && size > HEADER_BYTES) yield at;
    else if (type === META) yield* transforms(bytes, at + HEADER_BYTES + FULL_BOX_BYTES, boxEnd);
    else if (CONTAINERS.has(type)) yield* transforms(bytes, at + HEADER_BYTES, boxEnd);
    at = boxEnd;
  }
}
