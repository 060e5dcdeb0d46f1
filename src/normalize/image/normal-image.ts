/** One frame of an image as the guard is to get it. */
export interface NormalFrame {
  /** 0-based number of the frame or page within the file. */
  readonly index: number;
  /** A PNG of the frame's normal form, or the file itself where that is in normal form already and smaller. */
  readonly bytes: Buffer;
  /** Of the normal form, in pixels: 1 … 512. */
  readonly width: number;
  readonly height: number;
  readonly form: 'png' | 'original';
}

/** An image in normal form. */
export interface NormalImage {
  /** Evenly spaced over the file, the first frame among them; never empty. */
  readonly frames: readonly NormalFrame[];
  /** How many frames or pages the file holds. */
  readonly total: number;
}

/** Stored colours of a picture: three bytes a pixel (red, green, blue), row by row from the top, without gaps. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly rgb: Uint8Array;
}
