import type { Covered, Part } from '../parts/judge-parts.ts';

/** Something that is too long to be judged in one piece. */
export interface Windowed {
  /** Size of what is cut, in bytes of UTF-8. */
  readonly bytes: number;
  /** All of it: windows leave nothing out. */
  readonly covered: Covered;
  /** Overlapping windows, each with at most so many bytes of what is cut; null when that is too few to cut it. */
  cut(maxBytes: number): readonly Part[] | null;
}
