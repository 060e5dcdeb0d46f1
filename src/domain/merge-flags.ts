import { hasFloor } from './policy.ts';
import type { Judgement } from './outcome.ts';

type Flagged = Pick<Judgement, 'flagged' | 'subcategoryFlags'>;

/**
 * The flags of a whole that was judged in two parts: those of the worse part, and those of the other that alone raise a
 * decision: a severe or unknown category, and any category of what is not flagged itself.
 */
export function mergeFlags(worse: Flagged, other: Flagged): Judgement['subcategoryFlags'] {
  const flags = worse.subcategoryFlags;
  const missing = (other.subcategoryFlags ?? []).filter(
    (flag) => (hasFloor(flag) || !other.flagged) && flags?.includes(flag) !== true,
  );
  return missing.length === 0 ? flags : [...(flags ?? []), ...missing];
}
