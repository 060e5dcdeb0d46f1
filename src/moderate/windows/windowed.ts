import type { Covered, Part } from '../parts/judge-parts.ts';

/** Something that is too long to be judged in one piece. */
export interface Windowed {
  /** Size of all that is sent of it, in bytes of UTF-8. */
  readonly bytes: number;
  /**
   * Overlapping windows of at most so many bytes, at least `MIN_WINDOW_BYTES`, each cut when it is asked for: one
   * that holds all of it where there is room. At the end: how much of the whole they were, which counts nothing that
   * is in none of them.
   */
  cut(maxBytes: number): Generator<Part, Covered>;
}

/** Smaller windows would hold no sentence: whoever refuses them refuses for another reason. */
export const MIN_WINDOW_BYTES = 256;
