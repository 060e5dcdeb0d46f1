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
