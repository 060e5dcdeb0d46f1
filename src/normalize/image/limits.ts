import { Refusal } from './refusal.ts';

/**
 * Pixels of one frame: 2^27, about 134 million. Photographs of 108 megapixels pass; a decoded frame stays below half
 * a gigabyte. Known from the header, so that what is larger is never decoded.
 */
const MAX_FRAME_PIXELS = 2 ** 27;

/**
 * Pixels along an edge: 2^17. JPEG, GIF and WebP end far below it, and so do scans and panoramas of the allowed number
 * of pixels. The tables of decoding and of scaling grow with the edges, however few pixels there are: those of an image
 * of 60 million pixels in one row took a gigabyte.
 */
const MAX_EDGE = 2 ** 17;

/**
 * Memory for decoding one frame: 2^30 bytes. Every allowed frame stays below it in the common variants of its format;
 * rare ones, such as interlaced PNG with 16 bits a channel, reach it with fewer pixels.
 */
const MAX_FRAME_BYTES = 2 ** 30;

/** Frames of one file. Each costs little, but not nothing, even where it is not decoded. */
const MAX_FRAMES = 65_536;

/**
 * Pixels to decode for one file. A frame of an animation is made from those before it, so that a late one costs as
 * much as all of them together.
 */
const MAX_DECODED_PIXELS = 2 ** 32;

/** Throws a Refusal for a frame with no pixels (corrupt) or with more than are decoded (too large). */
export function checkFrameSize(width: number, height: number): void {
  if (!(width >= 1 && height >= 1)) throw new Refusal('CORRUPT_MEDIA', 'the image has no pixels');
  if (Math.max(width, height) > MAX_EDGE) {
    throw new Refusal(
      'MEDIA_TOO_LARGE',
      `the image is ${width} x ${height} pixels: an edge over ${MAX_EDGE} is not decoded`,
    );
  }
  if (width * height > MAX_FRAME_PIXELS) {
    throw new Refusal(
      'MEDIA_TOO_LARGE',
      `the image has ${width} x ${height} pixels, more than the ${MAX_FRAME_PIXELS} that are decoded`,
    );
  }
}

/** Throws a Refusal for a frame that takes too much memory to decode, in bytes. */
export function checkFrameMemory(bytes: number): void {
  if (bytes > MAX_FRAME_BYTES) {
    throw new Refusal(
      'MEDIA_TOO_LARGE',
      `decoding the image takes ${Math.ceil(bytes / 2 ** 20)} MiB, more than the ${MAX_FRAME_BYTES / 2 ** 20} that are allowed`,
    );
  }
}

/** Throws a Refusal for a file with too many frames to look at. */
export function checkFrameCount(frames: number): void {
  if (frames > MAX_FRAMES) {
    throw new Refusal('MEDIA_TOO_LARGE', `the image has more than ${MAX_FRAMES} frames`);
  }
}

/** Throws a Refusal when getting at the wanted frames means decoding too many pixels, counted over all of them. */
export function checkDecodedPixels(pixels: number): void {
  if (pixels > MAX_DECODED_PIXELS) {
    throw new Refusal('MEDIA_TOO_LARGE', 'the animation is too long for its size to be decoded');
  }
}
