import { Refusal } from './refusal.ts';

export type ImageFormat = 'jpeg' | 'png' | 'gif' | 'webp' | 'tiff' | 'avif' | 'bmp' | 'ico';

/** First bytes, in Latin-1. */
const SIGNATURES: readonly (readonly [signature: RegExp, format: ImageFormat])[] = [
  [/^\xff\xd8\xff/, 'jpeg'],
  [/^\x89PNG\r\n\x1a\n/, 'png'],
  [/^GIF8[79]a/, 'gif'],
  [/^RIFF....WEBP/s, 'webp'],
  // the second pair is BigTIFF
  [/^(?:II\*\0|MM\0\*|II\+\0|MM\0\+)/, 'tiff'],
  // zeros where programs reserved them, or a header of a size that exists
  [/^BM(?:....\0\0\0\0|.{12}[\x0c\x10\x28\x34\x38\x40\x6c\x7c]\0\0\0)/s, 'bmp'],
  [/^\0\0\x01\0/, 'ico'],
];

/** Brands of ISO base media files (ISO/IEC 23008-12, AV1 Image File Format) that hold pictures. */
const AVIF_STILL = 'avif';
const AVIF_SEQUENCE = 'avis';
const HEIC = /^(?:hei[cmsx]|hev[cmsx]|mif1|msf1)$/;
const MAX_BRANDS = 64;

/**
 * Which of the judged formats a file is, told by its first bytes, whatever its name or its metadata say.
 * Throws a Refusal: `EMPTY_CONTENT` without bytes, `UNSUPPORTED_TYPE` for everything that is none of them.
 */
export function recogniseFormat(bytes: Buffer): ImageFormat {
  if (bytes.length === 0) throw new Refusal('EMPTY_CONTENT', 'the file has no content');
  const start = bytes.toString('latin1', 0, 18);
  const format = SIGNATURES.find(([signature]) => signature.test(start))?.[1];
  if (format !== undefined) return format;
  const brands = fileBrands(bytes);
  // a sequence also names its first picture's brand, and only that picture would be decoded
  if (brands.includes(AVIF_SEQUENCE)) {
    throw new Refusal('UNSUPPORTED_TYPE', 'animated AVIF is not supported: convert it to WebP or GIF');
  }
  if (brands.includes(AVIF_STILL)) return 'avif';
  if (brands.some((brand) => HEIC.test(brand))) {
    throw new Refusal('UNSUPPORTED_TYPE', 'HEIC is not supported: convert it to JPEG');
  }
  throw new Refusal('UNSUPPORTED_TYPE', 'not a JPEG, PNG, WebP, GIF, TIFF, AVIF, BMP or ICO image');
}

/** Major and compatible brands of an ISO base media file; none for other files. */
function fileBrands(bytes: Buffer): string[] {
  if (bytes.length < 16 || bytes.toString('latin1', 4, 8) !== 'ftyp') return [];
  const end = Math.min(bytes.readUInt32BE(0), bytes.length, 16 + 4 * MAX_BRANDS);
  const brands = [bytes.toString('latin1', 8, 12)];
  for (let at = 16; at + 4 <= end; at += 4) brands.push(bytes.toString('latin1', at, at + 4));
  return brands;
}
