import type { Review } from '../api/reviews.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';

/** A line of labels.jsonl, as `replay --labels` reads it. */
interface LabelLine {
  readonly id: string;
  readonly content_sha256: string | null;
  readonly part: string | null;
  /** Null: whether the item is hazardous at all. */
  readonly category: CategoryKey | null;
  readonly label: boolean;
  /** Who decided, and whether they were shown the content. */
  readonly by: string;
  readonly seen: boolean;
}

/**
 * What a review says of an item: whether it is hazardous, which is anything but `allow`, and for each category whether it
 * belongs to it, if the review names categories.
 */
export function labelLines({ id, content_sha256, part }: OutcomeLine, review: Review): string {
  const { decision, categories, by, seen } = review;
  const of = (category: CategoryKey | null, label: boolean): string => {
    const line: LabelLine = { id, content_sha256, part, category, label, by, seen };
    return `${JSON.stringify(line)}\n`;
  };
  const lines = [of(null, decision !== 'allow')];
  if (categories !== null) {
    for (const key of CATEGORY_KEYS) lines.push(of(key, categories.includes(key)));
  }
  return lines.join('');
}
