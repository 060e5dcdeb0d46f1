import type { Metadata } from 'sharp';
import type { ImageFile, Pixels } from '../normal-image.ts';
import { decodePage, outputBytesPerPixel, readHeader } from '../libvips-page.ts';
import {
  checkDecodedPixels,
  checkFrameCount,
  checkFrameMemory,
  checkFrameSize,
  ImageRefusal,
} from '../limits.ts';
import { isolated, readTiffDirectories, TAGS, type TiffDirectory } from './tiff-directories.ts';

/**
 * Opens a TIFF, which libvips decodes page by page. A transparency mask is not a page. An overview in an unsupported
 * variant counts as a page but is not decoded. Throws an ImageRefusal: `UNSUPPORTED_TYPE` with the name of an unsupported
 * variant, `CORRUPT_MEDIA` for a broken header.
 */
export async function openTiff(bytes: Buffer): Promise<ImageFile> {
  const directories = readTiffDirectories(bytes);
  const count = (await namingVariant(directories[0], () => readHeader(bytes, 0))).pages ?? 1;
  checkFrameCount(count);
  const isLaterPage = (page: number, is: (directory: TiffDirectory) => boolean): boolean =>
    page > 0 && page < directories.length && is(directories[page]!);
  const pages = [...Array(count).keys()].filter((page) => !isLaterPage(page, isTransparencyMask));
  return {
    total: pages.length,
    decodable: pages.filter(
      (page) => !isLaterPage(page, (directory) => isOverview(directory) && tiffVariant(directory) !== null),
    ),
    plain: false, // decoders read its variants differently
    async measure(chosen) {
      let [largest, decoded] = [0, 0];
      for (const page of chosen) {
        const header = await namingVariant(directories[page], () => readHeader(bytes, page));
        const { width, height } = header;
        checkFrameSize(width, height);
        const tiles = tileMemory(header, directories[page]);
        largest = Math.max(largest, width * height * outputBytesPerPixel(header) + tiles);
        decoded += width * height;
      }
      checkDecodedPixels(decoded);
      checkFrameMemory(largest);
      return largest;
    },
    async *decode(chosen): AsyncGenerator<Pixels, void, void> {
      for (const page of chosen) {
        yield await namingVariant(directories[page], () => decodeTiffPage(bytes, page, directories));
      }
    },
  };
}

/** Memory for two rows of tiles and the tile being decoded; a tile may exceed the page. Strips are streamed. */
function tileMemory(
  { width, height, channels, depth }: Metadata,
  directory: TiffDirectory | undefined,
): number {
  const [tileWidth] = directory?.values(TAGS.tileWidth) ?? [];
  const [tileHeight] = directory?.values(TAGS.tileHeight) ?? [];
  if (tileWidth === undefined || tileHeight === undefined) return 0;
  checkFrameSize(tileWidth, tileHeight);
  const held = Math.ceil(width / tileWidth) * Math.min(2, Math.ceil(height / tileHeight));
  return tileWidth * tileHeight * (held + 1) * channels * (depth === 'ushort' ? 2 : 1);
}

/** Tries a page that libvips refuses once more without the other pages, which may be what libvips refuses. */
async function decodeTiffPage(
  bytes: Buffer,
  page: number,
  directories: readonly TiffDirectory[],
): Promise<Pixels> {
  try {
    return await decodePage(bytes, page);
  } catch (error) {
    const directory = directories[page];
    const isAlone = directories.length === 1 && directories[0]!.isLast;
    if (!(error instanceof ImageRefusal) || directory === undefined || isAlone) throw error;
    return decodePage(isolated(bytes, directory), 0);
  }
}

/** Replaces a refusal by one that names the page's unsupported variant, if it has one. */
async function namingVariant<T>(directory: TiffDirectory | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const variant = directory === undefined ? null : tiffVariant(directory);
    if (!(error instanceof ImageRefusal) || variant === null) throw error;
    throw new ImageRefusal(
      'UNSUPPORTED_TYPE',
      `a TIFF image ${variant} is not supported: convert it to PNG`,
      {
        cause: error,
      },
    );
  }
}

/** Unsupported compression methods, by number. */
const UNSUPPORTED_METHODS = new Map([
  [6, 'old-style JPEG'],
  [32809, 'ThunderScan'],
  [32909, 'Pixar'],
  [34661, 'JBIG'],
  [34676, 'SGI'],
  [34677, 'SGI'],
  [34712, 'JPEG 2000'],
  [34925, 'LZMA'],
  [50000, 'Zstandard'],
  [50002, 'JPEG XL'],
]);

/** Photometric interpretations other than RGB, grey, palette index and ink. */
const PHOTOMETRICS = new Map([
  [8, 'in a Lab colour space'],
  [9, 'in a Lab colour space'],
  [10, 'in a Lab colour space'],
  [32803, 'with the raw samples of a sensor'],
  [32844, 'with logarithmic luminance'],
  [32845, 'with logarithmic luminance'],
]);
const TRANSPARENCY_MASK = 4;
const CMYK = 5;

const SAMPLE_FORMATS = new Map([
  [2, 'with signed samples'],
  [3, 'with floating-point samples'],
  [5, 'with complex samples'],
  [6, 'with complex samples'],
]);

/** PlanarConfiguration: channels are stored separately. */
const PLANAR = 2;
/** NewSubfileType flag: a reduced version of another page. */
const REDUCED = 1;

/**
 * Names the unsupported variant of a page, in words that follow "a TIFF image"; null for all others. Used only to explain
 * why libvips refused a page.
 */
export function tiffVariant({ values }: TiffDirectory): string | null {
  const [method] = values(TAGS.compression);
  const [photometric] = values(TAGS.photometric);
  const [format] = values(TAGS.sampleFormat);
  const compression = UNSUPPORTED_METHODS.get(method ?? 1);
  if (compression !== undefined) return `with ${compression} compression`;
  return (
    PHOTOMETRICS.get(photometric ?? 0) ??
    SAMPLE_FORMATS.get(format ?? 1) ??
    variantOfBits(values(TAGS.bits), values(TAGS.samples)[0] ?? 1, photometric) ??
    (values(TAGS.planes)[0] === PLANAR && values(TAGS.tileWidth).length > 0
      ? 'with separate channels in tiles'
      : null)
  );
}

function variantOfBits(
  bits: readonly number[],
  samples: number,
  photometric: number | undefined,
): string | null {
  const [first = 1] = bits;
  if (bits.some((other) => other !== first)) return 'with channels of different widths';
  const known = samples === 1 ? [1, 2, 4, 8, 16] : photometric === CMYK ? [8] : [8, 16];
  return known.includes(first) ? null : `with ${first} bits per channel`;
}

/** Whether a page is the transparency mask of another, with one bit per pixel. */
function isTransparencyMask({ values }: TiffDirectory): boolean {
  return values(TAGS.photometric)[0] === TRANSPARENCY_MASK && (values(TAGS.bits)[0] ?? 1) === 1;
}

/** Whether a page is a reduced version of another. */
function isOverview({ values }: TiffDirectory): boolean {
  return ((values(TAGS.subfile)[0] ?? 0) & REDUCED) !== 0;
}
