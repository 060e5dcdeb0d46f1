import { z } from 'zod';
import { DECISIONS, type Decision } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';

/** Body of `POST /api/runs/:run/items/:seq/reviews`: what a person decides on an item. */
export const NEW_REVIEW = z.strictObject({
  /** Null takes back what was decided before: the item is open again. */
  decision: z.enum(DECISIONS).nullable(),
  /** Categories that the person finds; null: not said. */
  categories: z.array(z.enum(CATEGORY_KEYS)).max(CATEGORY_KEYS.length).nullable().default(null),
  note: z.string().max(2000).default(''),
});

export type NewReview = z.input<typeof NEW_REVIEW>;

/** A person's decision on an item. The last one of an item counts. */
export interface Review {
  readonly seq: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** Who, as the server knows: the user of its process. */
  readonly by: string;
  /** Null: what was decided before is taken back. Such an item counts as not reviewed and is in no label file. */
  readonly decision: Decision | null;
  /** Whether that is the run's decision. */
  readonly agrees: boolean;
  readonly categories: readonly CategoryKey[] | null;
  readonly note: string;
}

/** Files that reviews are exported to: `GET /api/runs/:run/labels/<name>`. */
export const LABEL_FILES = ['labels.jsonl', 'label-studio.json'] as const;
