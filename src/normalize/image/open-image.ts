import type { Metadata } from 'sharp';
import { openHeic } from './heic.ts';
import { decodePage, outputBytesPerPixel, readHeader } from './libvips-page.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameMemory, checkFrameSize, corrupt } from './limits.ts';
import type { Pixels } from './normal-image.ts';
import { type ImageFormat, recogniseFormat } from './recognise.ts';
import { withoutTransforms, withOpaqueFirstFrame } from './stored-form.ts';

/** An image file with its header read. Nothing is decoded yet. */
export interface ImageFile {
  /** Frames or pages in the file. */
  readonly total: number;
  /** The number of leading frames that can be decoded: at least 1. */
  readonly decodable: number;
  /**
   * Whether every decoder reads the same pixels from it: one frame with 8 bits per channel, without orientation, colour
   * profile, transparency or CMYK.
   */
  readonly plain: boolean;
  /**
   * Reads the headers of the chosen frames (ascending) and returns the memory needed to decode the largest one, in
   * bytes. Throws an ImageRefusal if a frame exceeds the limits of size, memory or work.
   */
  measure(chosen: readonly number[]): Promise<number>;
  /** Decodes the chosen frames (ascending, already measured) one by one. Throws an ImageRefusal for broken data. */
  decode(chosen: readonly number[]): AsyncGenerator<Pixels, void, void>;
}

/**
 * Formats that all decoders read identically. The chroma of AVIF differs between decoders, as do variants of TIFF and
 * GIF.
 */
const READ_ALIKE = new Set<ImageFormat>(['jpeg', 'png', 'webp']);

/** Formats of animations: frames have the size of the canvas, and each is painted over all previous ones. */
const ANIMATED = new Set<ImageFormat>(['gif', 'webp']);

/**
 * Opens an image. Throws an ImageRefusal: `EMPTY_CONTENT`; `UNSUPPORTED_TYPE` for other formats and
 * for sample formats without stored RGB; `CORRUPT_MEDIA` for a broken header.
 */
export async function openImage(original: Buffer): Promise<ImageFile> {
  const format = recogniseFormat(original);
  const bytes = storedForm(original, format);
  if (format === 'heic') return openHeic(bytes);
  const chunks = format === 'png' ? readPngChunks(bytes) : null;
  const header = await readHeader(bytes, 0);
  const pages = header.pages ?? 1;
  checkFrameCount(pages);
  return {
    total: chunks?.pictures ?? pages,
    decodable: pages, // libvips decodes only the default picture of an animated PNG
    plain: READ_ALIKE.has(format) && pages === 1 && (chunks?.harmless ?? true) && isPlain(header),
    async measure(chosen) {
      let [largest, decoded] = [0, 0];
      for (const page of chosen) {
        const pageHeader = page === 0 || ANIMATED.has(format) ? header : await readHeader(bytes, page);
        const { width, height } = pageHeader;
        checkFrameSize(width, height);
        const perPixel = outputBytesPerPixel(pageHeader) + heldBytesPerPixel(pageHeader, format);
        largest = Math.max(largest, width * height * perPixel);
        decoded += width * height * (ANIMATED.has(format) ? page + 1 : 1);
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

/** A copy of the file, changed where libvips would otherwise not return the stored colours and pixels. */
function storedForm(bytes: Buffer, format: ImageFormat): Buffer {
  if (format === 'avif' || format === 'heic') return withoutTransforms(bytes);
  return format === 'gif' ? withOpaqueFirstFrame(bytes) : bytes;
}

/** Bytes per pixel that a decoder holds for the whole image in addition to its output (measured). */
function heldBytesPerPixel(header: Metadata, format: Exclude<ImageFormat, 'heic'>): number {
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
    case 'gif':
      return 12; // the canvas with transparency, a copy of it to restore, and libvips' own
    case 'tiff':
      return channels * (depth === 'ushort' ? 2 : 1); // tiles, which may be as large as the page
    case 'bmp':
      return 0; // converted to TIFF beforehand
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
