import { hasFloor } from '../domain/policy.ts';

type Flags = readonly string[] | null;

/**
 * The flags of a whole that was judged in two parts: those of the worse part, and those of the other that the policy
 * never lets pass.
 */
export function worstFlags(worse: Flags, other: Flags): Flags {
  const missing = other?.filter((flag) => hasFloor(flag) && worse?.includes(flag) !== true) ?? [];
  return missing.length === 0 ? worse : [...(worse ?? []), ...missing];
}
