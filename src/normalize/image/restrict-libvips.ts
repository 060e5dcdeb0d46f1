import sharp from 'sharp';

/** libvips' loader classes of the formats that it decodes. A class covers the variants for files and for memory. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Tiff', 'Heif'];

/**
 * Configures libvips for the whole process: only the allowed loaders, no cache, one thread per image (several images are
 * decoded in parallel instead). May be called more than once.
 */
export function restrictLibvips(): void {
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS.map((loader) => `VipsForeignLoad${loader}`) });
  sharp.cache(false);
  sharp.concurrency(1);
}
