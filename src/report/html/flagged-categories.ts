import type { OutcomeLine } from '../../domain/outcome.ts';
import { isCategoryKey } from '../../domain/taxonomy.ts';

/** The flagged categories of a verdict, most probable first; those without a score last, in the guard's order. */
export function flaggedCategories({ subcategory_flags, subcategory_scores }: OutcomeLine): readonly string[] {
  if (subcategory_flags === null || subcategory_flags.length === 0) return [];
  const scoreOf = (key: string): number => (isCategoryKey(key) ? (subcategory_scores?.[key] ?? -1) : -1);
  return [...new Set(subcategory_flags)].sort((a, b) => scoreOf(b) - scoreOf(a));
}
