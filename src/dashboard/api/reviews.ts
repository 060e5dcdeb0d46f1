import { z } from 'zod';
import { DECISIONS } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

import type { CurrentReview, Review } from '../../record/reviews/review.ts';

export type { CurrentReview, Release, Review, ReviewProgress } from '../../record/reviews/review.ts';

/** Body of `POST /api/runs/:run/items/:seq/reviews`: a person's decision on an item. */
export const NEW_REVIEW = z.strictObject({
  /** Null takes back the last decision: the previous one is valid again. */
  decision: z.enum(DECISIONS).nullable(),
  /** Categories found by the person; null if the person names none. */
  categories: z.array(z.enum(CATEGORY_KEYS)).max(CATEGORY_KEYS.length).nullable().default(null),
  note: z.string().max(2000).default(''),
  /** Whether the content of the item was shown to the reviewer. */
  seen: z.boolean().default(false),
  /**
   * `number` of the last review of the item that the reviewer has seen, 0 for none. If there is a newer one, it is
   * returned with status 409, and nothing is saved. Null to save in any case.
   */
  after: z.int().min(0).nullable().default(null),
});

/** A saved review, and the review of its item that is now valid; null if the item is open. */
export interface SavedReview extends Review {
  readonly current: CurrentReview | null;
}

/** The answer, with up to 10,000 other items of the run that have the content. */
export interface SavedWithCopies extends SavedReview {
  readonly copies: readonly number[];
}

/**
 * Body of `POST /api/runs/:run/items/:seq/release`: the reason why an item restricted for Sexual Content may be shown.
 */
export const NEW_RELEASE = z.strictObject({ note: z.string().max(2000).regex(/\S/, 'a note is needed') });

/** Maximum items decided in one request. */
const MAX_BULK = 200;

/**
 * Body of `POST /api/runs/:run/reviews`: a person's decision on many items. Each is handled as in a request of its own.
 */
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
 * Answer about all items, or only the first ones: after a failure, it covers what was saved before. Requesting the
 * remaining items again returns the error.
 */
export interface SavedReviews {
  readonly saved: readonly SavedReview[];
  /** Items that were skipped, because they are restricted or have been reviewed by someone else in the meantime. */
  readonly left: readonly number[];
}

/** Body of `POST /api/session/reviewer`: the name that a person gives for their future reviews. */
export const REVIEWER = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1)
    .max(64)
    .regex(/^[^\p{C}]*$/u, 'only visible characters'),
});

export type NewReview = z.input<typeof NEW_REVIEW>;
