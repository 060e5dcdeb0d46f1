import sharp from 'sharp';
import type { Pixels } from './normal-image.ts';

/**
 * Encodes a picture as PNG with 8 bits per channel (RGB) and no metadata, which every decoder reads alike. A low
 * compression level with filters makes smaller files than a high level without, and is several times faster.
 */
export async function encodePng({ width, height, rgb }: Pixels): Promise<Buffer> {
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 3, adaptiveFiltering: true, palette: false })
    .toBuffer();
}
