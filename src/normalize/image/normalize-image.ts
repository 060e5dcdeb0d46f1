import type { ItemError } from '../../domain/item-error.ts';
import { encodePng } from './encode-png.ts';
import { downscale, targetSize } from './resize.ts';
import { unlessRefused } from './limits.ts';
import type { NormalFrame, NormalImage, Picture, Pixels } from './normal-image.ts';
import { openImage } from './open-image.ts';

/** Waits until this much memory is available, in bytes; rejects to give up. */
type Admission = (bytes: number) => Promise<void>;

export interface WantedFrames {
  /** Maximum number of frames: 1 or more. */
  readonly frames: number;
  /** Return each frame as PNG, even if the file itself is in normalized format. */
  readonly onlyPng?: boolean;
}

export interface WantedPicture {
  /** Index in the file. If the frame cannot be decoded, the first frame is used instead. */
  readonly frame: number;
  /** Longest edge in pixels; larger frames are scaled down. */
  readonly maxEdge: number;
  /** Minimum factor to scale all frames down by, so small ones are blurred too. Default: 1. */
  readonly minShrink?: number;
}

/**
 * Normalizes an image file: stored RGB, longest edge at most 512 pixels. Frames are returned as PNG, or as the file
 * itself if that is smaller and every decoder reads it identically. Calls `admit` once before decoding, with the memory
 * needed for decoding.
 *
 * Returns the item error of a refused file: `EMPTY_CONTENT`, `UNSUPPORTED_TYPE`, `MEDIA_TOO_LARGE` (known before
 * decoding) or `CORRUPT_MEDIA`. Work outside libvips blocks the thread, for about 2 ns per pixel.
 */
export async function normalizeImage(
  bytes: Buffer,
  { frames, onlyPng = false }: WantedFrames,
  admit: Admission,
): Promise<NormalImage | ItemError> {
  return unlessRefused(async () => {
    const file = await openImage(bytes);
    const chosen = chooseFrames(file.decodable, frames);
    await admit(await file.measure(chosen));
    const normal: NormalFrame[] = [];
    for await (const pixels of file.decode(chosen)) {
      const small = fit(pixels);
      const png = encodePng(small);
      const isOriginal = !onlyPng && file.plain && small === pixels && bytes.length <= png.length;
      normal.push({
        index: chosen[normal.length]!,
        bytes: isOriginal ? bytes : png,
        width: small.width,
        height: small.height,
        form: isOriginal ? 'original' : 'png',
      });
    }
    return { frames: normal, total: file.total };
  });
}

/** The first frame in normalized format, as pixels. Item errors as for `normalizeImage`. */
export async function normalPixels(bytes: Buffer, admit: Admission): Promise<Pixels | ItemError> {
  return unlessRefused(async () => {
    const file = await openImage(bytes);
    await admit(await file.measure([0]));
    const { value } = await file.decode([0]).next();
    return fit(value!);
  });
}

/** One frame as a PNG for human viewers. Item errors as for `normalizeImage`. */
export async function framePicture(
  bytes: Buffer,
  { frame, maxEdge, minShrink = 1 }: WantedPicture,
  admit: Admission,
): Promise<Picture | ItemError> {
  return unlessRefused(async () => {
    const file = await openImage(bytes);
    const chosen = [frame < file.decodable ? frame : 0];
    await admit(await file.measure(chosen));
    const { value } = await file.decode(chosen).next();
    const longest = Math.max(value!.width, value!.height);
    const edge = Math.max(1, Math.min(maxEdge, Math.floor(longest / minShrink)));
    const { width, height, rgb } = fit(value!, edge);
    return { png: encodePng({ width, height, rgb }), width, height };
  });
}

/** Scales an image down, by default to the normalized size; returns the same object if it is small enough. */
function fit(pixels: Pixels, maxEdge?: number): Pixels {
  const { width, height } = targetSize(pixels.width, pixels.height, maxEdge);
  return width === pixels.width && height === pixels.height ? pixels : downscale(pixels, width, height);
}

/** Indexes of the frames to judge, ascending: at most `max` of `total`, evenly spaced, starting with the first. */
export function chooseFrames(total: number, max: number): readonly number[] {
  const count = Math.min(total, max);
  return Array.from({ length: count }, (_, position) => Math.floor((position * total) / count));
}
