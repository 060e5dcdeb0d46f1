/**
 * Elementary functions built only from additions, multiplications and divisions, which IEEE 754 defines to the last
 * bit; ECMAScript leaves the precision of Math.exp and Math.log to the engine.
 */

const LN2 = 0.6931471805599453;

/** Beyond ± this the logistic function is 0 or 1 in single precision. */
const SATURATED = 104;

/** Terms of the exponential series that give double precision for |x| ≤ ln 2 / 2. */
const EXPONENTIAL_TERMS = 14;
/** Terms of the logarithm series that give double precision for 1 ≤ x < 2. */
const LOGARITHM_TERMS = 16;

function exponential(x: number): number {
  const doublings = Math.round(x / LN2);
  const rest = x - doublings * LN2;
  let result = 1;
  for (let term = EXPONENTIAL_TERMS; term > 0; term--) result = 1 + (result * rest) / term;
  for (let step = doublings; step > 0; step--) result *= 2;
  for (let step = doublings; step < 0; step++) result /= 2;
  return result;
}

/** The logistic function, 0 to 1. */
export function logistic(x: number): number {
  if (x > SATURATED) return 1;
  if (x < -SATURATED) return 0;
  return 1 / (1 + exponential(-x));
}

/** The natural logarithm of x ≥ 1, by the series of the inverse hyperbolic tangent. */
export function logarithm(x: number): number {
  let doublings = 0;
  let rest = x;
  while (rest >= 2) {
    rest /= 2;
    doublings++;
  }
  const ratio = (rest - 1) / (rest + 1);
  const square = ratio * ratio;
  let sum = 0;
  for (let term = LOGARITHM_TERMS; term >= 0; term--) sum = sum * square + 1 / (2 * term + 1);
  return doublings * LN2 + 2 * ratio * sum;
}
