import type { ItemRow } from '../api/items.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Review } from '../../record/reviews/review.ts';
import { isCategoryName } from '../../domain/taxonomy.ts';

/** An outcome as a row of the review list; `reviews` are those of the item, oldest first. */
export function itemRow(line: OutcomeLine, reviews: readonly Review[], restricted: boolean): ItemRow {
  const review = reviews.at(-1);
  return {
    seq: line.seq,
    id: line.id,
    path: line.source.path,
    row: line.source.row,
    part: line.part,
    turn: line.turn,
    modality: line.modality,
    request_type: line.request_type,
    decision: line.decision,
    score: line.score,
    categories: flaggedCategories(line),
    error_code: line.error?.code ?? null,
    restricted,
    review:
      review === undefined || review.decision === null
        ? null
        : { decision: review.decision, agrees: review.agrees },
    reviews: reviews.length,
  };
}

/** Most probable first; those without a score last. */
function flaggedCategories({ subcategory_flags, subcategory_scores }: OutcomeLine): string[] {
  const scoreOf = (key: string): number => (isCategoryName(key) ? (subcategory_scores?.[key] ?? -1) : -1);
  return [...(subcategory_flags ?? [])].sort((a, b) => scoreOf(b) - scoreOf(a));
}
