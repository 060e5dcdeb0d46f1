import { z } from 'zod';
import { COVERAGE_UNITS } from '../../domain/coverage.ts';
import { ITEM_CODES, ITEM_ERROR_REASONS, mayBeRetryable, mayHaveReason } from '../../domain/item-error.ts';
import { ORIGINAL_ROLES } from '../../domain/original-role.ts';
import { DECISIONS, type LogLine, type OutcomeLine } from '../../domain/outcome.ts';
import { MODALITIES, REQUEST_TYPES } from '../../domain/request.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

const count = z.int().min(0);
const score = z.number().min(0).max(1);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const OUTCOME = z.strictObject({
  schema: z.literal(1),
  run: z.string(),
  seq: count,
  id: z.string(),
  source: z.strictObject({
    path: z.string(),
    row: count.nullable(),
    line: count.nullable(),
    sha256: sha256.nullable(),
    bytes: count.nullable(),
  }),
  modality: z.enum(MODALITIES).nullable(),
  request_type: z.enum(REQUEST_TYPES).nullable(),
  content_sha256: sha256.nullable(),
  roles: z.partialRecord(z.enum(ORIGINAL_ROLES), z.int().min(1)).nullable(),
  // Lines of earlier builds do not have it.
  turn: z.int().min(1).nullable().default(null),
  // Lines of earlier builds do not have it.
  part: z.string().nullable().default(null),
  coverage: z
    .strictObject({
      unit: z.enum(COVERAGE_UNITS),
      judged: z.number().min(0),
      total: z.number().min(0),
      worst_at: z.number().nullable(),
    })
    .nullable(),
  status: z.enum(['ok', 'error']),
  score: score.nullable(),
  flagged: z.boolean().nullable(),
  subcategory_scores: z.partialRecord(z.enum(CATEGORY_KEYS), score).nullable(),
  subcategory_flags: z.array(z.string()).nullable(),
  decision: z.enum(DECISIONS).nullable(),
  decided_by: z.string().nullable(),
  same_as: count.nullable(),
  fingerprint: z.string().nullable(),
  endpoint: z.string().nullable(),
  latency_ms: z.number().min(0).nullable(),
  attempts: count,
  cache_usage: z.array(z.number()).nullable(),
  // Lines of earlier builds do not have it.
  stream: z
    .strictObject({
      chunks: z.int().min(1),
      first_caution_seq: count.nullable(),
      first_flagged_seq: count.nullable(),
      shown_share_at_caution: score.nullable(),
      shown_share_at_flag: score.nullable(),
      lag_chunks: count,
      lag_ms: z.number().min(0),
    })
    .nullable()
    .default(null),
  moderated_at: z.string(),
  reused_from: z.string().nullable(),
  error: z
    .strictObject({
      code: z.enum(ITEM_CODES),
      message: z.string(),
      retryable: z.boolean(),
      reason: z.enum(ITEM_ERROR_REASONS).optional(),
    })
    .nullable(),
});

const COPY_STATUS = z.looseObject({ status: z.literal('same') });

/** An outcome line from its text. Throws when it is neither a complete verdict nor a complete error. */
export function parseOutcomeLine(text: string): OutcomeLine {
  return outcomeLine(JSON.parse(text));
}

function outcomeLine(value: unknown): OutcomeLine {
  const line: OutcomeLine = OUTCOME.parse(value);
  const isVerdict = line.score !== null && line.flagged !== null && line.decision !== null;
  const isNone = line.score === null && line.flagged === null && line.decision === null;
  const isComplete =
    line.status === 'ok'
      ? isVerdict && line.error === null
      : isNone && line.error !== null && isConsistent(line.error);
  if (!isComplete) throw new Error('neither a complete verdict nor a complete error');
  return line;
}

const COPY = OUTCOME.pick({
  schema: true,
  run: true,
  seq: true,
  id: true,
  source: true,
  modality: true,
  request_type: true,
  roles: true,
  turn: true,
  part: true,
  moderated_at: true,
}).extend({ content_sha256: sha256, status: z.literal('same'), same_as: count });

/** A line of the verdict log from its text. Throws when it is neither the outcome of an item that is no copy, nor a copy. */
export function parseLogLine(text: string): LogLine {
  const value: unknown = JSON.parse(text);
  if (COPY_STATUS.safeParse(value).success) return COPY.parse(value);
  const line = outcomeLine(value);
  if (line.same_as !== null) throw new Error('the outcome of a copy');
  return line;
}

function isConsistent({ code, retryable, reason }: NonNullable<OutcomeLine['error']>): boolean {
  return mayBeRetryable(code, retryable) && (reason === undefined || mayHaveReason(code, reason));
}
