/** One frame of an image, as sent to the guard. */
export interface NormalFrame {
  /** Index of the frame or page in the file. */
  readonly index: number;
  /** A PNG, or the file itself if it is already in normalized format and smaller. */
  readonly bytes: Buffer;
  /** In normalized format, in pixels: 1 to 512. */
  readonly width: number;
  readonly height: number;
  readonly form: 'png' | 'original';
}

/** An image in normalized format. */
export interface NormalImage {
  /** Evenly spaced over the file, starting with the first frame; never empty. */
  readonly frames: readonly NormalFrame[];
  /** Number of frames or pages in the file. */
  readonly total: number;
}

/** Stored colours of an image: three bytes per pixel (red, green, blue), row by row from the top, without padding. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}

/** A frame for human viewers: larger than in normalized format. */
export interface Picture {
  readonly png: Buffer;
  readonly width: number;
  readonly height: number;
}
