/** Longest edge of an image in normal form, in pixels. */
export const MAX_EDGE = 512;

/**
 * Size of an image in normal form: as it is when its longest edge has at most 512 pixels; else that edge has exactly
 * 512, and the other is in proportion, rounded with halves to the even neighbour, at least 1.
 */
export function targetSize(width: number, height: number): { width: number; height: number } {
  const longest = Math.max(width, height);
  if (longest <= MAX_EDGE) return { width, height };
  const shortest = Math.max(1, roundedQuotient(Math.min(width, height) * MAX_EDGE, longest));
  return width >= height
    ? { width: MAX_EDGE, height: width === height ? MAX_EDGE : shortest }
    : { width: shortest, height: MAX_EDGE };
}

/** In whole numbers, because a quotient in floating point may only seem to be a half. */
function roundedQuotient(dividend: number, divisor: number): number {
  const down = Math.floor(dividend / divisor);
  const twiceRest = 2 * (dividend - down * divisor);
  if (twiceRest === divisor) return down + (down % 2);
  return twiceRest > divisor ? down + 1 : down;
}
