import type { ImageFile } from '../image-file.ts';
import { checkDecodedPixels, checkFrameMemory, checkFrameSize } from '../limits.ts';
import type { Pixels } from '../normal-image.ts';
import { playGif } from './play-gif.ts';
import { readGif, type GifFrame } from './read-gif.ts';

/**
 * Opens a GIF, which is decoded here: libvips gives black where a pixel is transparent, not its stored colour.
 * Throws a Refusal for a broken structure.
 */
export function openGif(bytes: Buffer): ImageFile {
  const gif = readGif(bytes);
  const pixels = gif.width * gif.height;
  return {
    total: gif.frames.length,
    decodable: [...gif.frames.keys()],
    plain: false, // decoders differ in what they take for a whole GIF
    async measure(chosen) {
      checkFrameSize(gif.width, gif.height);
      let [decoded, largest] = [0, 0];
      for (let index = 0; index <= (chosen.at(-1) ?? 0); index++) {
        const frame = gif.frames[index]!;
        const { width, height } = frame;
        if (width * height > 0) checkFrameSize(width, height); // a frame without pixels paints nothing
        // what is painted of the frame, and the canvas that disposing of it may touch
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

/** Beside the canvas: one byte per pixel for the indexes, and a copy of the colours below that are to be put back. */
function frameMemory({ width, height, disposal }: GifFrame): number {
  return width * height * (disposal === 'restore' ? 4 : 1);
}
