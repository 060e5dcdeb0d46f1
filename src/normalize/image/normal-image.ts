/** One frame of an image, as it is sent to the guard. */
export interface NormalFrame {
  /** Index of the frame or page in the file. */
  readonly index: number;
  /** A PNG, or the file itself if it is already in normal form and smaller. */
  readonly bytes: Buffer;
  /** In normal form, in pixels: 1 to 512. */
  readonly width: number;
  readonly height: number;
  readonly form: 'png' | 'original';
}

/** An image in normal form. */
export interface NormalImage {
  /** Evenly spaced over the file, starting with the first frame; never empty. */
  readonly frames: readonly NormalFrame[];
  /** Number of frames or pages in the file. */
  readonly total: number;
}

/** Stored colours of a picture: three bytes per pixel (red, green, blue), row by row from the top, without padding. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** A frame as people look at it: larger than in normal form. */
export interface Picture {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
}

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
   * bytes. Throws an ImageRefusal if a frame exceeds the limits of size, memory or work.
   */
  measure(chosen: readonly number[]): Promise<number>;
  /**
   * Decodes the chosen frames (ascending, already measured) one by one. The pixels are valid until the next frame is
   * requested. Throws an ImageRefusal for broken data.
   */
  decode(chosen: readonly number[]): AsyncGenerator<Pixels, void, void>;
}
