/** How much of the probability that the turns before it carry reaches the judged turn, by who wrote that turn. */
export const CONTEXT_WEIGHT = {
  /** A user goes on with what was asked before: «and the next step?». */
  user: 0.5,
  /** An answer to a hazardous request may be a refusal; its own words count for more. */
  assistant: 0.3,
} as const;

/**
 * Probability that a turn is hazardous in its context: either its own words are, or the worst turn before it is and
 * that carries over, with the weight given as the chance. All three are 0 … 1, and so is the result.
 */
export function inContext(own: number, worstBefore: number, weight: number): number {
  return own + (1 - own) * weight * worstBefore;
}
