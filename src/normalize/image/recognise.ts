import { hasMagicBytes, findByMagicBytes, type Magic, imageKindOfBrand } from '../../domain/magic-bytes.ts';
import { ImageRefusal } from './limits.ts';

export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'tiff' | 'avif' | 'heic' | 'bmp';

const BY_MAGIC_BYTES: readonly (readonly [magic: Magic, format: ImageFormat])[] = [
  ['jpeg', 'jpeg'],
  ['png', 'png'],
  ['gif', 'gif'],
  ['webp', 'webp'],
  ['tiff', 'tiff'],
  ['bmp', 'bmp'],
];

const MAX_BRANDS = 64;

/**
 * Detects the format of an image by its first bytes, regardless of its name and metadata. Throws an ImageRefusal:
 * `EMPTY_CONTENT` for an empty file, `UNSUPPORTED_TYPE` for any other format.
 */
export function recogniseFormat(bytes: Buffer): ImageFormat {
  if (bytes.length === 0) throw new ImageRefusal('EMPTY_CONTENT', 'the file has no content');
  const format = findByMagicBytes(bytes, BY_MAGIC_BYTES);
  if (format !== null) return format;
  if (hasMagicBytes(bytes, 'ico')) {
    throw new ImageRefusal('UNSUPPORTED_TYPE', 'ICO is not supported: convert it to PNG');
  }
  const brands = fileBrands(bytes).map(imageKindOfBrand);
  // a sequence also has the brand of its first image, and only that image would be decoded
  if (brands.includes('sequence')) {
    throw new ImageRefusal(
      'UNSUPPORTED_TYPE',
      'animated AVIF and HEIC are not supported: convert it to WebP or GIF',
    );
  }
  if (brands.includes('avif')) return 'avif';
  if (brands.includes('heic')) return 'heic';
  throw new ImageRefusal('UNSUPPORTED_TYPE', 'not a JPEG, PNG, WebP, GIF, TIFF, AVIF, HEIC or BMP image');
}

/** Major and compatible brands of an ISO base media file; none for other files. */
function fileBrands(bytes: Buffer): string[] {
  if (bytes.length < 16 || !hasMagicBytes(bytes, 'isoMedia')) return [];
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 16 + 4 * MAX_BRANDS);
  const brands = [bytes.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(bytes.toString('latin1', at, at + 4));
  return brands;
}
