import type { Pixels } from './normal-image.ts';

/** An image file of which the header is read and nothing decoded. */
export interface ImageFile {
  /** Frames or pages in the file. */
  readonly total: number;
  /** Which of them can be decoded, 0-based, ascending, the first among them. */
  readonly decodable: readonly number[];
  /**
   * Whether every decoder reads the same pixels from it as we do: one frame of eight bits a channel, without
   * orientation, colour profile, transparency or inks.
   */
  readonly plain: boolean;
  /**
   * Looks at the headers of the chosen of them (ascending): bytes of memory that decoding the most costly of them
   * takes. Throws a Refusal where one is larger, or takes more memory or work, than is allowed.
   */
  measure(chosen: readonly number[]): Promise<number>;
  /**
   * Decodes the chosen ones (ascending, measured before) one after another. What is given out holds until the next
   * is asked for. Throws a Refusal for broken data.
   */
  decode(chosen: readonly number[]): AsyncGenerator<Pixels, void, void>;
}
