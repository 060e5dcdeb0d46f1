import { z } from 'zod';
import { DECISIONS } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

export type { Release, Review, ReviewProgress } from '../../record/reviews/review.ts';

/** Body of `POST /api/runs/:run/items/:seq/reviews`: what a person decides on an item. */
export const NEW_REVIEW = z.strictObject({
  /** Null takes back what was decided before: the item is open again. */
  decision: z.enum(DECISIONS).nullable(),
  /** Categories that the person finds; null: not said. */
  categories: z.array(z.enum(CATEGORY_KEYS)).max(CATEGORY_KEYS.length).nullable().default(null),
  note: z.string().max(2000).default(''),
  /** Whether the content of the item was shown to whoever decides. */
  seen: z.boolean().default(false),
  /**
   * `number` of the last review of the item that the reviewer knows, 0 for none. If there is a newer one, the answer is 409
   * with it, and nothing is saved. Null: save in any case.
   */
  after: z.int().min(0).nullable().default(null),
});

/** Body of `POST /api/runs/:run/items/:seq/release`: why an item restricted for Sexual Content may be shown. */
export const NEW_RELEASE = z.strictObject({ note: z.string().max(2000).regex(/\S/, 'a note is needed') });

/** Body of `POST /api/session/reviewer`: how somebody is named in reviews from now on. */
export const REVIEWER = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^[^\p{C}]*$/u, 'only visible characters'),
});

export type NewReview = z.input<typeof NEW_REVIEW>;

/** Files that reviews are exported to: `GET /api/runs/:run/labels/<name>`. */
export const LABEL_FILES = ['labels.jsonl', 'label-studio.json'] as const;
