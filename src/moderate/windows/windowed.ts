import type { Covered, Part } from '../parts/judge-parts.ts';

/** Content that is too long to be judged in one piece. */
export interface Windowed {
  /** Size of everything that is sent of it, in bytes of UTF-8. */
  readonly bytes: number;
  /**
   * Generates overlapping windows of at most `maxBytes` (at least `MIN_WINDOW_BYTES`), lazily; a single window if
   * everything fits. Returns how much of the whole they cover. Content that is in no window does not count.
   */
  cut(maxBytes: number): Generator<Part, Covered>;
}

/** Smaller windows would hold no sentence: a guard that refuses this size refuses for another reason. */
export const MIN_WINDOW_BYTES = 256;
