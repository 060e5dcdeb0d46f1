import type { Judgement } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import type { Verdict } from './schemas.ts';

/**
 * The REST verdict of a judgement. `subcategory_flags` has a key for each category that was judged, in the order of the
 * taxonomy, then the flagged keys outside of it. It is empty when nothing is flagged.
 */
export function verdictOf(judgement: Judgement, latencyMs: number): Verdict {
  const { score, flagged, subcategoryScores, subcategoryFlags } = judgement;
  const set = new Set(subcategoryFlags);
  const judged = CATEGORY_KEYS.filter((key) => set.has(key) || subcategoryScores?.[key] !== undefined);
  const outside = [...set].filter((key) => !(CATEGORY_KEYS as readonly string[]).includes(key));
  const isPopulated = subcategoryFlags !== null && (flagged || set.size > 0);
  return {
    flagged,
    score,
    // Unlike an assignment, this keeps a key named __proto__.
    subcategory_flags: isPopulated
      ? Object.fromEntries([...judged, ...outside].map((key) => [key, set.has(key)]))
      : {},
    latency_ms: Math.round(latencyMs * 10) / 10,
  };
}

/** What part of the content was judged, such as `8/120 frames`; null if all of it was. */
export function partialCoverage({ coverage: { unit, judged, total } }: Judgement): string | null {
  return judged === total ? null : `${judged}/${total} ${unit}`;
}
