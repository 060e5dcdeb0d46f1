/** Longest edge of an image in normal form, in pixels. */
const MAX_EDGE = 512;

/**
 * Size of an image in normal form: unchanged if the longest edge has at most 512 pixels. Otherwise that edge becomes
 * 512, and the other is scaled in proportion, rounded half to even, at least 1.
 */
export function targetSize(width: number, height: number): { width: number; height: number } {
  const longest = Math.max(width, height);
  if (longest <= MAX_EDGE) return { width, height };
  const shortest = Math.max(1, roundedQuotient(Math.min(width, height) * MAX_EDGE, longest));
  return width >= height
    ? { width: MAX_EDGE, height: width === height ? MAX_EDGE : shortest }
    : { width: shortest, height: MAX_EDGE };
}

/** Rounds half to even in integers: a floating-point quotient may wrongly look like a half. */
function roundedQuotient(dividend: number, divisor: number): number {
  const down = Math.floor(dividend / divisor);
  const twiceRest = 2 * (dividend - down * divisor);
  if (twiceRest === divisor) return down + (down % 2);
  return twiceRest > divisor ? down + 1 : down;
}
