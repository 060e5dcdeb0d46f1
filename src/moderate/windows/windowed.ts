import type { Covered, Part } from '../parts/judge-parts.ts';

/** Content that is too long to be judged in one piece. */
export interface Windowed {
  /** Size of everything that is sent of it, in bytes of UTF-8. */
  readonly bytes: number;
  /**
   * Generates overlapping windows of at most `maxBytes` (at least 256), lazily; a single window if
   * everything fits. Returns how much of the whole they cover. Content that is in no window does not count.
   */
  cut(maxBytes: number): Generator<Part, Covered>;
}

/** Smaller windows would hold no sentence: a guard that refuses this size refuses for another reason. */
const MIN_WINDOW_BYTES = 256;
/** Window sizes that would give an item more windows than this are not tried. */
const MAX_WINDOWS = 16_384;

/** Window sizes to try for an item of this size, in bytes: powers of two, from the largest below it down. */
export function* windowSizes(bytes: number): Generator<number> {
  let size = MIN_WINDOW_BYTES;
  while (size * 2 < bytes) size *= 2;
  for (; size >= MIN_WINDOW_BYTES && bytes / size <= MAX_WINDOWS; size /= 2) {
    if (size < bytes) yield size;
  }
}
