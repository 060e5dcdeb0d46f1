import type { ImageFile } from '../image-file.ts';
import { checkDecodedPixels, checkFrameMemory, checkFrameSize } from '../limits.ts';
import type { Pixels } from '../normal-image.ts';
import { playGif } from './play-gif.ts';
import { readGif, type GifFrame } from './read-gif.ts';

/**
 * Opens a GIF, which is decoded here because libvips returns black for a transparent pixel, not its stored colour.
 * Throws a Refusal for a broken structure.
 */
export function openGif(bytes: Buffer): ImageFile {
  const gif = readGif(bytes);
  const pixels = gif.width * gif.height;
  return {
    total: gif.frames.length,
    decodable: [...gif.frames.keys()],
    plain: false, // decoders disagree on when a GIF is complete
    async measure(chosen) {
      checkFrameSize(gif.width, gif.height);
      let [decoded, largest] = [0, 0];
      for (let index = 0; index <= (chosen.at(-1) ?? 0); index++) {
        const frame = gif.frames[index]!;
        const { width, height } = frame;
        if (width * height > 0) checkFrameSize(width, height); // a frame without pixels paints nothing
        // the frame's pixels, and the canvas once, for its first fill
        decoded += width * height + (index === 0 ? pixels : 0);
        largest = Math.max(largest, frameMemory(frame));
      }
      checkDecodedPixels(decoded);
      const bytes = pixels * 3 + largest;
      checkFrameMemory(bytes);
      return bytes;
    },
    async *decode(chosen): AsyncGenerator<Pixels, void, void> {
      yield* playGif(bytes, gif, chosen);
    },
  };
}

/** Bytes besides the canvas: one per pixel for the indexes, and three for a copy of the colours to restore. */
function frameMemory({ width, height, disposal }: GifFrame): number {
  return width * height * (disposal === 'restore' ? 4 : 1);
}
