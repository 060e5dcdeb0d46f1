import type { Metadata } from 'sharp';
import type { ImageFile } from '../image-file.ts';
import { decodePage, outputBytesPerPixel, readHeader } from '../libvips-page.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameMemory, checkFrameSize } from '../limits.ts';
import type { Pixels } from '../normal-image.ts';
import { Refusal } from '../refusal.ts';
import { isolated, readTiffDirectories, TAGS, type TiffDirectory } from './tiff-directories.ts';
import { isOverview, isTransparencyMask, tiffVariant } from './tiff-variant.ts';

/**
 * Opens a TIFF, which libvips decodes page by page. A transparency mask is not a page. An overview in an unsupported
 * variant counts as a page but is not decoded. Throws a Refusal: `UNSUPPORTED_TYPE` with the name of an unsupported
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
    if (!(error instanceof Refusal) || directory === undefined || isAlone) throw error;
    return decodePage(isolated(bytes, directory), 0);
  }
}

/** Replaces a refusal by one that names the page's unsupported variant, if it has one. */
async function namingVariant<T>(directory: TiffDirectory | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const variant = directory === undefined ? null : tiffVariant(directory);
    if (!(error instanceof Refusal) || variant === null) throw error;
    throw new Refusal('UNSUPPORTED_TYPE', `a TIFF image ${variant} is not supported: convert it to PNG`, {
      cause: error,
    });
  }
}
