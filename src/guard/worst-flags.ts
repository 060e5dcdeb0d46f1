import { hasFloor } from '../domain/policy.ts';
import type { Answer } from './answer.ts';

type Flagged = Pick<Answer, 'flagged' | 'subcategoryFlags'>;

/**
 * The flags of a whole that was judged in two parts: those of the worse part, and those of the other that alone raise a
 * decision: a severe or unknown category, and any category of what is not flagged itself.
 */
export function worstFlags(worse: Flagged, other: Flagged): Answer['subcategoryFlags'] {
  const flags = worse.subcategoryFlags;
  const missing = (other.subcategoryFlags ?? []).filter(
    (flag) => (hasFloor(flag) || !other.flagged) && flags?.includes(flag) !== true,
  );
  return missing.length === 0 ? flags : [...(flags ?? []), ...missing];
}
