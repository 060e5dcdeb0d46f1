import { type ItemCode, itemError, type ItemError } from '../../domain/item-error.ts';

/** Thrown if an image cannot be judged; becomes the item's outcome. */
export class ImageRefusal extends Error {
  override readonly name = 'ImageRefusal';
  readonly itemError: ItemError;

  /**
   * `message` is persisted, so it must only contain our own words and numbers. A decoder's message belongs in `cause`.
   */
  constructor(code: ItemCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.itemError = itemError(code, message);
  }
}

/** The result of `work`, or the item error if it throws an ImageRefusal. */
export async function unlessRefused<T>(work: () => Promise<T>): Promise<T | ItemError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ImageRefusal) return error.itemError;
    throw error;
  }
}

/** The refusal of an image that its decoder rejects. libvips does not say whether it is damaged or a rare variant. */
export function corrupt(cause?: unknown): ImageRefusal {
  const message =
    'the image is truncated, corrupt or of an unsupported variant: if a viewer shows it, convert it to PNG';
  return new ImageRefusal('CORRUPT_MEDIA', message, { cause });
}

/**
 * Max pixels of one frame: 2^27, about 134 million. Photographs of 108 megapixels pass; a decoded frame stays below 0.5
 * GB. The size is known from the header, so larger images are never decoded.
 */
const MAX_FRAME_PIXELS = 2 ** 27;

/**
 * Max pixels along an edge: 2^17. JPEG, GIF and WebP cannot reach it, and scans and panoramas within the pixel limit
 * stay far below it. The tables for decoding and scaling grow with the edges: an image of 60 million pixels in one row
 * took 1 GB.
 */
const MAX_EDGE = 2 ** 17;

/**
 * Max memory for decoding one frame: 2^30 bytes. In the common variants of a format, a frame within the pixel limit
 * stays below it. Rare variants, such as interlaced PNG with 16 bits per channel, reach it with fewer pixels.
 */
const MAX_FRAME_BYTES = 2 ** 30;

/** Max frames per file. Even a frame that is not decoded costs some work. */
const MAX_FRAMES = 65_536;

/**
 * Max pixels to decode per file. Each frame of an animation is painted over the previous ones, so a late frame costs as
 * much as all frames up to it.
 */
const MAX_DECODED_PIXELS = 2 ** 32;

/** Throws an ImageRefusal for a frame without pixels (corrupt) or above the size limits (too large). */
export function checkFrameSize(width: number, height: number): void {
  if (!(width >= 1 && height >= 1)) throw new ImageRefusal('CORRUPT_MEDIA', 'the image has no pixels');
  if (Math.max(width, height) > MAX_EDGE) {
    throw new ImageRefusal(
      'MEDIA_TOO_LARGE',
      `the image is ${width} x ${height} pixels: an edge over ${MAX_EDGE} is not decoded`,
    );
  }
  if (width * height > MAX_FRAME_PIXELS) {
    throw new ImageRefusal(
      'MEDIA_TOO_LARGE',
      `the image has ${width} x ${height} pixels, more than the ${MAX_FRAME_PIXELS} that are decoded`,
    );
  }
}

/** Throws an ImageRefusal for a frame that takes too much memory to decode, in bytes. */
export function checkFrameMemory(bytes: number): void {
  if (bytes > MAX_FRAME_BYTES) {
    throw new ImageRefusal(
      'MEDIA_TOO_LARGE',
      `decoding the image takes ${Math.ceil(bytes / 2 ** 20)} MiB, more than the ${MAX_FRAME_BYTES / 2 ** 20} that are allowed`,
    );
  }
}

/** Throws an ImageRefusal for a file with too many frames. */
export function checkFrameCount(frames: number): void {
  if (frames > MAX_FRAMES) {
    throw new ImageRefusal('MEDIA_TOO_LARGE', `the image has more than ${MAX_FRAMES} frames`);
  }
}

/** Throws an ImageRefusal if the chosen frames have too many pixels to decode in total. */
export function checkDecodedPixels(pixels: number): void {
  if (pixels > MAX_DECODED_PIXELS) {
    throw new ImageRefusal('MEDIA_TOO_LARGE', 'the animation has too many pixels in total to decode');
  }
}
