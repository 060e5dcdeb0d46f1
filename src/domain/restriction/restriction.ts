import type { OutcomeLine } from '../outcome.ts';
import { applyCategoryMapping, type Policy, SEVERE_CATEGORIES, findThresholds } from '../policy.ts';
import type { CategoryKey, CategoryName } from '../taxonomy.ts';

/** The categories that restrict an item. */
export type Restriction = Extract<CategoryKey, 'child_sexual_exploitation' | 'sexual_content'>;

export const CHILDREN = 'child_sexual_exploitation' satisfies Restriction;
/**
 * Restricts only if the guard has no score for Child Sexual Exploitation: then the content may be either, and a person
 * must decide.
 */
export const SEXUAL = 'sexual_content' satisfies Restriction;

/** The names of each category, in our taxonomy and in others. */
export const RESTRICTING = {
  child_sexual_exploitation: SEVERE_CATEGORIES,
  sexual_content: [
    'sexual_content',
    'qwen3guard/sexual_content_or_sexual_acts',
    'shieldgemma/sexually_explicit',
    'granite-guardian/sexual_content',
  ],
} as const satisfies Readonly<Record<Restriction, readonly CategoryName[]>>;

export type GuardScores = Pick<OutcomeLine, 'subcategory_flags' | 'subcategory_scores'>;

/**
 * Returns the category that restricts an item, regardless of which rule decided. This is Child Sexual Exploitation if
 * the guard flagged it or a rule of the policy on it applies, or Sexual Content that the policy blocks if the guard
 * gave no score for Child Sexual Exploitation. Equivalent categories of other taxonomies count too. Null for any other
 * item. Restricted items are listed separately, and never shown, quoted or exported.
 */
export function findRestriction(policy: Policy, said: GuardScores): Restriction | null {
  // Most items have neither.
  if (said.subcategory_scores === null && (said.subcategory_flags ?? []).length === 0) return null;
  const [subcategory_scores, subcategory_flags] = applyCategoryMapping(
    policy,
    said.subcategory_scores,
    said.subcategory_flags,
  );
  const judged = { subcategory_scores, subcategory_flags };
  if (isCaught(policy, judged, CHILDREN)) return CHILDREN;
  if (RESTRICTING[CHILDREN].some((name) => judged.subcategory_scores?.[name] !== undefined)) return null;
  return isCaught(policy, judged, SEXUAL) ? SEXUAL : null;
}

function isCaught(
  policy: Policy,
  { subcategory_flags, subcategory_scores }: GuardScores,
  key: Restriction,
): boolean {
  return RESTRICTING[key].some((name) => {
    const { least, decidesAlone } = restrictingScore(policy, key, name);
    const score = subcategory_scores?.[name];
    if (score !== undefined && (decidesAlone || score >= least)) return score >= least;
    return subcategory_flags?.includes(name) === true;
  });
}

/**
 * The lowest score in a category that restricts an item, and whether the score alone decides; if so, the flag counts
 * only when there is no score. For Child Sexual Exploitation, any rule of the policy and the guard's flag count. For
 * Sexual Content, the policy's block threshold counts; without one, its review threshold; without both, the flag.
 */
export function restrictingScore(
  policy: Policy,
  key: Restriction,
  name: CategoryName,
): { readonly least: number; readonly decidesAlone: boolean } {
  const { review = Infinity, block = Infinity } = findThresholds(policy, name) ?? {};
  if (key === CHILDREN) return { least: Math.min(review, block), decidesAlone: false };
  const least = block < Infinity ? block : review;
  return { least, decidesAlone: least < Infinity };
}
