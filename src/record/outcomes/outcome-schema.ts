import { z } from 'zod';
import { COVERAGE_UNITS } from '../../domain/coverage.ts';
import { ITEM_CODES, ITEM_ERROR_REASONS, mayBeRetryable, mayHaveReason } from '../../domain/item-error.ts';
import { ORIGINAL_ROLES, MODALITIES, REQUEST_TYPES } from '../../domain/request.ts';
import { DECISIONS, type OutcomeLine } from '../../domain/outcome.ts';
import { MAX_SNIPPET_UNITS } from '../../domain/text/snippet.ts';
import { CATEGORY_KEYS, FOREIGN_CATEGORY } from '../../domain/taxonomy.ts';

const count = z.int().min(0);
const score = z.number().min(0).max(1);
/** One of our categories, or one of another taxonomy. */
const categoryName = z.union([z.enum(CATEGORY_KEYS), z.string().regex(new RegExp(`^${FOREIGN_CATEGORY}$`))]);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** A line of the verdict log, and of verdicts.jsonl. Published as a JSON Schema. */
export const OUTCOME = z
  .strictObject({
    schema: z.literal(1).describe('Version of the format.'),
    run: z.string().describe('Name of the run.'),
    seq: count.describe('0-based position of the item in the corpus: its key in the run.'),
    id: z
      .string()
      .describe('The id from the corpus, else the path below the corpus and the row. May repeat.'),
    source: z
      .strictObject({
        path: z.string().describe('Name of the corpus and the path below it. Unique in the run.'),
        row: count.nullable().describe('1-based record, without a header; null for a whole file.'),
        line: count.nullable().describe('1-based line on which the record begins; null without lines.'),
        sha256: sha256.nullable().describe('SHA-256 of the file, for a whole file.'),
        bytes: count.nullable().describe('Size of the file in bytes, for a whole file.'),
        offset: count
          .nullable()
          .describe(
            'Byte at which the record begins; null for a whole file and where no record can be sought.',
          ),
        length: count.nullable().describe('Bytes of the record, with the line break that ends it.'),
      })
      .describe('Where the item is.'),
    modality: z.enum(MODALITIES).nullable().describe('Null if it is not known.'),
    request_type: z
      .enum(REQUEST_TYPES)
      .nullable()
      .describe('What the item was judged as; null if not known.'),
    content_sha256: sha256
      .nullable()
      .describe('SHA-256 of the canonical request; null for an item that failed when it was read.'),
    roles: z
      .partialRecord(z.enum(ORIGINAL_ROLES), z.int().min(1))
      .nullable()
      .describe(
        'Turns of a conversation by their role in the record, if it differs from the role they are judged in.',
      ),
    turn: z
      .int()
      .min(1)
      .nullable()
      .describe('1-based number of the turn, for a conversation that is judged at every turn.'),
    part: z
      .string()
      .nullable()
      .describe(
        'Which part of its record the item is, such as `chosen` or `image`; null for the record or a whole file.',
      ),
    coverage: z
      .strictObject({
        unit: z.enum(COVERAGE_UNITS).describe('Unit of the other values.'),
        judged: z.number().min(0).describe('How much was judged.'),
        total: z.number().min(0).describe('How much the item has.'),
        worst_at: z
          .number()
          .nullable()
          .describe(
            'Where the piece that decided begins, counted from 0 in `unit`; null if the item is in one piece.',
          ),
      })
      .nullable()
      .describe(
        'How much of the item the guard judged: in code points of a text, turns, frames or seconds; null for an error.',
      ),
    status: z.enum(['ok', 'error']).describe('`ok` for a verdict.'),
    score: score.nullable().describe('Probability that the content is hazardous; null for an error.'),
    flagged: z.boolean().nullable().describe("The guard's own decision; null for an error."),
    subcategory_scores: z
      .partialRecord(categoryName, score)
      .nullable()
      .describe(
        'Probabilities by category, those of other taxonomies by a name such as `openai/hate`; null if the guard returned none, which is not zero. A category whose probe did not answer is left out.',
      ),
    subcategory_flags: z
      .array(z.string())
      .nullable()
      .describe('Categories that the guard flagged; null if it returned none.'),
    decision: z.enum(DECISIONS).nullable().describe("The decision of the run's policy; null for an error."),
    decided_by: z.string().nullable().describe('The rule that made the decision; null if none applied.'),
    fingerprint: z
      .string()
      .regex(/^(?:sha256|declared):[0-9a-f]{64}$/)
      .nullable()
      .describe('Id of the model that judged; null if it is not known.'),
    endpoint: z.string().nullable().describe('The guard that judged, as configured; null if there was none.'),
    latency_ms: z.number().min(0).nullable().describe('Milliseconds from the request to its reply.'),
    attempts: count.describe('Requests that counted against the item.'),
    cache_usage: z
      .array(z.number())
      .nullable()
      .describe('The 8 raw CACHE_USAGE values; null if the guard sent none.'),
    stream: z
      .strictObject({
        chunks: z.int().min(1).describe('Chunks of the response.'),
        first_caution_seq: count
          .nullable()
          .describe('`processed_until_seq` of the first verdict with `needs_caution`; null without one.'),
        first_flagged_seq: count.nullable().describe('The same for `flagged`.'),
        shown_share_at_caution: score
          .nullable()
          .describe('Share of the characters of the response that a reader had seen by then, four decimals.'),
        shown_share_at_flag: score.nullable().describe('The same for the flag.'),
        lag_chunks: count.describe('Most chunks that were sent but not judged when a verdict arrived.'),
        lag_ms: z
          .number()
          .min(0)
          .describe('Longest time from a chunk to the verdict on it, in milliseconds.'),
      })
      .nullable()
      .describe('For a generation that was replayed as a stream.'),
    moderated_at: z.string().describe('When the outcome was known: ISO 8601, UTC.'),
    reused_from: z
      .string()
      .nullable()
      .describe(
        'The run that judged this content, if its verdict was reused; may be this run. Scores, model, `latency_ms`, `coverage` and `moderated_at` are then of that run; `attempts` is 0.',
      ),
    snippet: z
      .string()
      .min(1)
      .max(MAX_SNIPPET_UNITS)
      .nullable()
      .describe(
        'A piece of the content, of an item to review or block that is not restricted, in a run with `--include-content`; else null.',
      ),
    error: z
      .strictObject({
        code: z.enum(ITEM_CODES).describe('What went wrong.'),
        message: z.string().describe('The same in words; it never quotes content.'),
        retryable: z.boolean().describe('Whether `retry` judges the item again.'),
        reason: z
          .enum(ITEM_ERROR_REASONS)
          .optional()
          .describe('Details for programs; only some errors have them.'),
      })
      .nullable()
      .describe('Null for a verdict.'),
  } satisfies Record<keyof OutcomeLine, z.ZodType>)
  .meta({
    title: 'guardsweep outcome line',
    description: 'A line of verdicts.jsonl or errors.jsonl: the verdict or the error of one item.',
  });

/** Parses an outcome line. Throws when it is neither a complete verdict nor a complete error. */
export function parseOutcomeLine(text: string): OutcomeLine {
  const line: OutcomeLine = OUTCOME.parse(JSON.parse(text));
  const isVerdict = line.score !== null && line.flagged !== null && line.decision !== null;
  const isNone = line.score === null && line.flagged === null && line.decision === null;
  const isComplete =
    line.status === 'ok'
      ? isVerdict && line.error === null
      : isNone && line.error !== null && isConsistent(line.error);
  if (!isComplete) throw new Error('neither a complete verdict nor a complete error');
  return line;
}

function isConsistent({ code, retryable, reason }: NonNullable<OutcomeLine['error']>): boolean {
  return mayBeRetryable(code, retryable) && (reason === undefined || mayHaveReason(code, reason));
}
