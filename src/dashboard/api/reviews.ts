import { z } from 'zod';
import { DECISIONS } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

import type { CurrentReview, Review } from '../../record/reviews/review.ts';

export type { CurrentReview, Release, Review, ReviewProgress } from '../../record/reviews/review.ts';

/** Body of `POST /api/runs/:run/items/:seq/reviews`: what a person decides on an item. */
export const NEW_REVIEW = z.strictObject({
  /** Null takes back the last decision: the one before it counts again. */
  decision: z.enum(DECISIONS).nullable(),
  /** Categories that the person finds; null if the person names none. */
  categories: z.array(z.enum(CATEGORY_KEYS)).max(CATEGORY_KEYS.length).nullable().default(null),
  note: z.string().max(2000).default(''),
  /** Whether the content of the item was shown to the reviewer. */
  seen: z.boolean().default(false),
  /**
   * `number` of the last review of the item that the reviewer knows, 0 for none. If there is a newer one, the answer is 409
   * with it, and nothing is saved. Null: save in any case.
   */
  after: z.int().min(0).nullable().default(null),
});

/** A review that was saved, and the review of its item that counts now; null: the item is open. */
export interface SavedReview extends Review {
  readonly current: CurrentReview | null;
}

/** Answer to it, with the other items of the run that have the content, at most 10,000. */
export interface SavedWithCopies extends SavedReview {
  readonly copies: readonly number[];
}

/** Body of `POST /api/runs/:run/items/:seq/release`: why an item restricted for Sexual Content may be shown. */
export const NEW_RELEASE = z.strictObject({ note: z.string().max(2000).regex(/\S/, 'a note is needed') });

/** Items that one request may decide. */
const MAX_BULK = 200;

/** Body of `POST /api/runs/:run/reviews`: what a person decides on many items at once. Each is decided as by itself. */
export const NEW_REVIEWS = z.strictObject({
  items: z
    .array(
      z.strictObject({
        ...{ seq: z.int().min(0), decision: NEW_REVIEW.shape.decision, seen: NEW_REVIEW.shape.seen },
        after: z.int().min(0),
      }),
    )
    .min(1)
    .max(MAX_BULK),
  note: NEW_REVIEW.shape.note,
});

export type NewReviews = z.input<typeof NEW_REVIEWS>;

/**
 * Together the first of the items, or all: after a failure, the answer ends with what was saved before. Ask for the others
 * again to be told why.
 */
export interface SavedReviews {
  readonly saved: readonly SavedReview[];
  /** Items that were left alone: somebody has reviewed them meanwhile, or they are restricted. */
  readonly left: readonly number[];
}

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
