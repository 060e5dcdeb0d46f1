import type { Metadata } from 'sharp';
import type { ImageFile } from '../image-file.ts';
import { decodePage, outputBytesPerPixel, readHeader } from '../libvips-page.ts';
import { checkDecodedPixels, checkFrameCount, checkFrameMemory, checkFrameSize } from '../limits.ts';
import type { Pixels } from '../normal-image.ts';
import { Refusal } from '../refusal.ts';
import { isolated, readTiffDirectories, TAGS, type TiffDirectory } from './tiff-directories.ts';
import { isOverview, isTransparencyMask, tiffVariant } from './tiff-variant.ts';

/**
 * Opens a TIFF, which libvips decodes page by page. A mask of transparency is no page; an overview in a variant that
 * is not decoded counts as a page, and is not judged. Throws a Refusal: `UNSUPPORTED_TYPE` with the name of a variant
 * that is not decoded, `CORRUPT_MEDIA` for a broken header.
 */
export async function openTiff(bytes: Buffer): Promise<ImageFile> {
  const directories = readTiffDirectories(bytes);
  const count = (await namingVariant(directories[0], () => readHeader(bytes, 0))).pages ?? 1;
  checkFrameCount(count);
  const isFurther = (page: number, is: (directory: TiffDirectory) => boolean): boolean =>
    page > 0 && page < directories.length && is(directories[page]!);
  const pages = [...Array(count).keys()].filter((page) => !isFurther(page, isTransparencyMask));
  return {
    total: pages.length,
    decodable: pages.filter(
      (page) => !isFurther(page, (directory) => isOverview(directory) && tiffVariant(directory) !== null),
    ),
    plain: false, // it has dialects, which decoders read differently
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

/** Two rows of tiles, of which each may be larger than the page, and the one that is decoded. Strips are streamed. */
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

/** A page that libvips refuses is tried once more without the others: it looks at them too. */
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

/** What a page that is refused ends as: by the name of its variant, if that is why. */
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
