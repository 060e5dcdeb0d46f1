import sharp from 'sharp';
import { type RgbImage } from './network.ts';

/** First bytes of the formats that are decoded; everything else is refused before a decoder sees it. */
const MAGIC: readonly (readonly [offset: number, bytes: string])[][] = [
  [[0, '\xff\xd8\xff']],
  [[0, '\x89PNG\r\n\x1a\n']],
  [
    [0, 'RIFF'],
    [8, 'WEBP'],
  ],
];

/** Pixels an image may have. */
const MAX_PIXELS = 64_000_000;

/** The stored pixels of a PNG, JPEG or WebP, without colour profile, orientation or transparency; null if it is none. */
export async function decodeImage(bytes: Buffer): Promise<RgbImage | null> {
  const known = MAGIC.some((parts) =>
    parts.every(([offset, magic]) => bytes.toString('latin1', offset, offset + magic.length) === magic),
  );
  if (!known) return null;
  try {
    const { data, info } = await sharp(bytes, {
      ignoreIcc: true,
      failOn: 'error',
      limitInputPixels: MAX_PIXELS,
    })
      .removeAlpha()
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true });
    return info.channels === 3 ? { width: info.width, height: info.height, pixels: data } : null;
  } catch {
    return null;
  }
}
