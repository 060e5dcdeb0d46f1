/** Min value that is rounded at a fixed decimal place. Smaller scores are rare. */
const MIN_ROUNDED = 1e-5;

/**
 * The shortest decimal that reads back as the same FP32 value, as a double: 0.93 where the plain conversion yields
 * 0.9300000071525574. `value`: a finite FP32 value. At powers of two the result may be one digit longer than the shortest.
 */
export function shortestFloat(value: number): number {
  // Rounding at a fixed decimal place is much cheaper than formatting, and exact for the usual range of scores: six
  // significant digits always survive a round trip through FP32, and nine always identify one value.
  if (value >= MIN_ROUNDED && value <= 1) {
    let scale = 1e6;
    for (let border = 0.1; value < border; border /= 10) scale *= 10;
    for (let digits = 6; digits <= 9; digits++, scale *= 10) {
      const rounded = Math.round(value * scale) / scale;
      if (Math.fround(rounded) === value) return rounded;
    }
  }
  for (let digits = 6; digits < 9; digits++) {
    const rounded = Number(value.toPrecision(digits));
    if (Math.fround(rounded) === value) return rounded;
  }
  return Number(value.toPrecision(9));
}
