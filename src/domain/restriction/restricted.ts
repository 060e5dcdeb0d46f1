import type { OutcomeLine } from '../outcome.ts';
import { type Policy, thresholdsOf } from '../policy.ts';
import type { CategoryKey } from '../taxonomy.ts';

/** The categories that restrict an item. */
export type Restriction = Extract<CategoryKey, 'child_sexual_exploitation' | 'sexual_content'>;

export const CHILDREN = 'child_sexual_exploitation' satisfies Restriction;
const SEXUAL = 'sexual_content' satisfies Restriction;

export type Judged = Pick<OutcomeLine, 'subcategory_flags' | 'subcategory_scores'>;

/**
 * The category that restricts an item, whatever decided on it: Child Sexual Exploitation if the guard flagged it or a rule
 * of the policy on it holds; Sexual Content likewise if the guard gave no score for the former, so that it may be either.
 * Null for any other item. Restricted items are listed apart, and never shown, quoted or exported.
 */
export function restrictedBy(policy: Policy, judged: Judged): Restriction | null {
  if (isCaught(policy, judged, CHILDREN)) return CHILDREN;
  if (judged.subcategory_scores?.[CHILDREN] !== undefined) return null;
  return isCaught(policy, judged, SEXUAL) ? SEXUAL : null;
}

function isCaught(
  policy: Policy,
  { subcategory_flags, subcategory_scores }: Judged,
  key: Restriction,
): boolean {
  if (subcategory_flags?.includes(key) === true) return true;
  const score = subcategory_scores?.[key];
  return score !== undefined && score >= leastScore(policy, key);
}

/** The least score in a category at which a rule of the policy on it holds; Infinity if none can. */
export function leastScore(policy: Policy, key: CategoryKey): number {
  const { review, block } = thresholdsOf(policy, key) ?? {};
  return Math.min(review ?? Infinity, block ?? Infinity);
}
