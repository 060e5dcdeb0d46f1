import sharp from 'sharp';
import type { Pixels } from './normal-image.ts';

/**
 * The picture as PNG with eight bits of RGB a pixel and no metadata: the same pixels for every decoder. A low level of
 * compression with filters is smaller than a high one without, and several times faster than both.
 */
export async function encodePng({ width, height, rgb }: Pixels): Promise<Buffer> {
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 3, adaptiveFiltering: true, palette: false })
    .toBuffer();
}
