/** Share of the earlier turns' probability that carries over to the judged turn, by the role of that turn. */
export const CONTEXT_WEIGHT = {
  /** A user continues an earlier request, "and the next step?": a hazard before is enough to flag it. */
  user: 0.85,
  /** An answer to a hazardous request may be a refusal, so its own words count for more. */
  assistant: 0.3,
} as const;

/**
 * Probability that a turn is hazardous in its context: its own words are, or the worst earlier turn is and carries
 * over, with probability `weight`. Arguments and result are in 0 to 1.
 */
export function inContext(own: number, worstBefore: number, weight: number): number {
  return own + (1 - own) * weight * worstBefore;
}
