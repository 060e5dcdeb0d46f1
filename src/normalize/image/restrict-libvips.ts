import sharp from 'sharp';

/** libvips' loaders of the formats that are judged with its help; one class has the variants for files and memory. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Tiff', 'Heif'];

/**
 * Sets libvips up for this whole process: only the allowed loaders, no cache of earlier pictures, one thread an image
 * (several images are decoded side by side instead). May be called again.
 */
export function restrictLibvips(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS.map((loader) => `VipsForeignLoad${loader}`) });
  sharp.cache(false);
  sharp.concurrency(1);
}
