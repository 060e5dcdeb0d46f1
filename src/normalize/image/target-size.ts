/** Longest edge of an image in normal form, in pixels. */
const MAX_EDGE = 512;

/**
 * Size of an image in normal form: unchanged if the longest edge has at most `maxEdge` pixels (512). Otherwise that edge
 * becomes `maxEdge`, and the other is scaled in proportion, rounded half to even, at least 1.
 */
export function targetSize(
  width: number,
  height: number,
  maxEdge = MAX_EDGE,
): { width: number; height: number } {
  const longest = Math.max(width, height);
  if (longest <= maxEdge) return { width, height };
  const shortest = Math.max(1, roundedQuotient(Math.min(width, height) * maxEdge, longest));
  return width >= height
    ? { width: maxEdge, height: width === height ? maxEdge : shortest }
    : { width: shortest, height: maxEdge };
}

/** Rounds half to even in integers: a floating-point quotient may wrongly look like a half. */
function roundedQuotient(dividend: number, divisor: number): number {
  const down = Math.floor(dividend / divisor);
  const twiceRest = 2 * (dividend - down * divisor);
  if (twiceRest === divisor) return down + (down % 2);
  return twiceRest > divisor ? down + 1 : down;
}
