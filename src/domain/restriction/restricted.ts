import type { OutcomeLine } from '../outcome.ts';
import { mapped, type Policy, SEVERE_CATEGORIES, thresholdsOf } from '../policy.ts';
import type { CategoryKey, CategoryName } from '../taxonomy.ts';

/** The categories that restrict an item. */
export type Restriction = Extract<CategoryKey, 'child_sexual_exploitation' | 'sexual_content'>;

export const CHILDREN = 'child_sexual_exploitation' satisfies Restriction;
const SEXUAL = 'sexual_content' satisfies Restriction;

/** What each of them is called, in our taxonomy and in others. */
export const RESTRICTING = {
  child_sexual_exploitation: SEVERE_CATEGORIES,
  sexual_content: [
    'sexual_content',
    'qwen3guard/sexual_content_or_sexual_acts',
    'shieldgemma/sexually_explicit',
    'granite-guardian/sexual_content',
  ],
} as const satisfies Readonly<Record<Restriction, readonly CategoryName[]>>;

export type Judged = Pick<OutcomeLine, 'subcategory_flags' | 'subcategory_scores'>;

/**
 * The category that restricts an item, whatever decided on it: Child Sexual Exploitation if the guard flagged it or a rule
 * of the policy on it holds; Sexual Content likewise if the guard gave no score for the former, so that it may be either.
 * Categories of other taxonomies that say the same count as these. Null for any other item. Restricted items are listed apart, and never shown, quoted or exported.
 */
export function restrictedBy(policy: Policy, said: Judged): Restriction | null {
  const [subcategory_scores, subcategory_flags] = mapped(
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
  { subcategory_flags, subcategory_scores }: Judged,
  key: Restriction,
): boolean {
  return RESTRICTING[key].some((name) => {
    if (subcategory_flags?.includes(name) === true) return true;
    const score = subcategory_scores?.[name];
    return score !== undefined && score >= leastScore(policy, name);
  });
}

/** The least score in a category at which a rule of the policy on it holds; Infinity if none can. */
export function leastScore(policy: Policy, key: CategoryName): number {
  const { review, block } = thresholdsOf(policy, key) ?? {};
  return Math.min(review ?? Infinity, block ?? Infinity);
}
