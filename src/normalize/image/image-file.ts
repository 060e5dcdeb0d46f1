import type { Pixels } from './normal-image.ts';

/** An image file whose header was read. Nothing is decoded yet. */
export interface ImageFile {
  /** Frames or pages in the file. */
  readonly total: number;
  /** Indexes of the frames that can be decoded, ascending, starting with 0. */
  readonly decodable: readonly number[];
  /**
   * Whether every decoder reads the same pixels from it: one frame with 8 bits per channel, without orientation, colour
   * profile, transparency or CMYK.
   */
  readonly plain: boolean;
  /**
   * Reads the headers of the chosen frames (ascending) and returns the memory that decoding the largest one takes, in
   * bytes. Throws a Refusal if a frame exceeds the limits of size, memory or work.
   */
  measure(chosen: readonly number[]): Promise<number>;
  /**
   * Decodes the chosen frames (ascending, already measured) one by one. The pixels are valid until the next frame is
   * requested. Throws a Refusal for broken data.
   */
  decode(chosen: readonly number[]): AsyncGenerator<Pixels, void, void>;
}
