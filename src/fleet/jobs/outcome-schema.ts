import { z } from 'zod';
import {
  ITEM_CODES,
  ITEM_ERROR_REASONS,
  mayBeRetryable,
  mayHaveReason,
  type ItemError,
} from '../../domain/item-error.ts';
import type { Judgement, Outcome } from '../../domain/outcome.ts';
import {
  CATEGORY_COUNT,
  isCategoryName,
  MAX_FOREIGN_CATEGORIES,
  type CategoryScores,
} from '../../domain/taxonomy.ts';
import { OUTCOME as OUTCOME_LINE } from '../../record/outcomes/outcome-schema.ts';

/**
 * Flags per item, and UTF-16 code units per string: more than any guard returns. Both are bounded, because a log is
 * kept forever.
 */
const MAX_FLAGS = 1000;
const MAX_TEXT = 1000;
const MAX_SCORES = CATEGORY_COUNT + MAX_FOREIGN_CATEGORIES;

const count = z.int().min(0);
const notNegative = z.number().min(0);
const share = z.number().min(0).max(1);
/** ISO 8601, UTC, milliseconds. */
const when = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

/** A plain function, because a zod record checks every key against both kinds of names, for each item. */
const SCORES = z.custom<CategoryScores>((value) => {
  if (typeof value !== 'object' || value === null) return false;
  const scores = Object.entries(value);
  return (
    scores.length <= MAX_SCORES && scores.every(([name, score]) => isCategoryName(name) && isShare(score))
  );
});

function isShare(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1;
}

/** Schema of an item's error, whose message the given schema checks. */
export function errorSchema(message: z.ZodType<string>): z.ZodType<ItemError> {
  return z
    .object({
      code: z.enum(ITEM_CODES),
      message,
      retryable: z.boolean().exactOptional(),
      reason: z.enum(ITEM_ERROR_REASONS).exactOptional(),
    })
    .refine(
      ({ code, retryable = false, reason }) =>
        (!retryable || mayBeRetryable(code, true)) && (reason === undefined || mayHaveReason(code, reason)),
    );
}

export const JUDGEMENT: z.ZodType<Judgement> = z.object({
  score: share,
  flagged: z.boolean(),
  subcategoryScores: SCORES.nullable(),
  subcategoryFlags: z.array(z.string().max(MAX_TEXT)).max(MAX_FLAGS).nullable(),
  fingerprint: z.string().nullable(),
  endpoint: z.string(),
  latencyMs: notNegative,
  attempts: count,
  cacheUsage: z.array(z.number()).nullable(),
  moderatedAt: when,
  coverage: OUTCOME_LINE.shape.coverage.unwrap(),
  stream: z
    .object({
      chunks: count,
      judgedChunks: count,
      firstCautionSeq: count.nullable(),
      firstFlaggedSeq: count.nullable(),
      shareAtCaution: share.nullable(),
      shareAtFlag: share.nullable(),
      lagChunks: count,
      lagMs: notNegative,
    })
    .nullable(),
});

const FAILURE = z.object({
  error: errorSchema(z.string().max(MAX_TEXT)),
  attempts: count,
  endpoint: z.string().nullable(),
  moderatedAt: when,
});

/** Schema of an item's outcome in the result of a shard. */
export const OUTCOME: z.ZodType<Outcome> = z.union([
  z.object({ judgement: JUDGEMENT, failure: z.null() }),
  z.object({ judgement: z.null(), failure: FAILURE }),
]);
