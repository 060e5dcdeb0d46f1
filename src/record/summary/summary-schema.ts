import { z } from 'zod';
import { ITEM_CODES, ITEM_ERROR_REASONS } from '../../domain/item-error.ts';
import { CHOSEN_BY } from '../../config/judged-columns.ts';
import type { Decision } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, FOREIGN_CATEGORY } from '../../domain/taxonomy.ts';
import { TRIAL } from './trial.ts';

const count = z.int().min(0);
const share = z.number().min(0).max(1);
const byName = z.record(z.string(), count);
const byDecision = z
  .strictObject({
    allow: count.describe('Allowed.'),
    review: count.describe('To be reviewed.'),
    block: count.describe('Blocked.'),
  } satisfies Record<Decision, z.ZodType>)
  .describe('Number by decision.');

export const POLICY = z.strictObject({
  thresholds: z
    .partialRecord(
      z.union([z.enum(['default', ...CATEGORY_KEYS]), z.string().regex(new RegExp(`^${FOREIGN_CATEGORY}$`))]),
      z.strictObject({
        review: share.optional().describe('Review from this score on.'),
        block: share.optional().describe('Block from this score on.'),
      }),
    )
    .nullable()
    .describe('Thresholds by category; null without a policy file, when flagged items are blocked.'),
  allowFlagged: z.boolean().describe('Whether thresholds may allow what the guard flagged.'),
  allowPartial: z.boolean().describe('Whether thresholds may allow what was judged only in part.'),
  taxonomy: z
    .record(z.string().max(100), z.enum(CATEGORY_KEYS))
    .optional()
    .describe('Categories of guards that the policy counts as ours; absent when there are none.'),
});

export const GATE = z.strictObject({
  gate: z.string().describe('As in a job file, or the key of a category.'),
  limit: share.describe('The gate trips above this share.'),
  value: share.nullable().describe('part / whole; null if `whole` is 0.'),
  part: count.describe('Verdicts or items that count for the gate.'),
  unknown: count.describe(
    'Those of `part` that were flagged without a score for the category: they may belong there.',
  ),
  whole: count.describe('Verdicts of the run; for `errorRate` and `uncoveredRate`, its items.'),
  tripped: z.boolean().describe('Whether the gate tripped.'),
});

const WHOLE_CONVERSATIONS = z.strictObject({
  conversations: count.describe('Conversations with one verdict, on the whole of them.'),
  earlier_turns: count.describe(
    'Their turns before the last one, system turns included: none of these has a verdict of its own.',
  ),
});

const GUARD = z.strictObject({
  endpoint: z.string().describe('As configured.'),
  kind: z.enum(['embedded', 'triton', 'rest', 'openai', 'websocket']).describe('Kind of guard.'),
  fingerprint: z.string().nullable().describe('Id of the model; null if it is not known.'),
  verdicts: count.describe('Verdicts of this model at this endpoint.'),
});

export const SHOWN = z.strictObject({
  generations: count.describe('Generations that were raised.'),
  median: share
    .nullable()
    .describe('Median share of the response that had been shown by then, by nearest rank.'),
  p90: share.nullable().describe('90th percentile of that share.'),
});

export const STREAMS = z.strictObject({
  generations: count.describe('Generations with a verdict.'),
  caution: SHOWN.describe('Generations for which the guard asked for caution.'),
  flag: SHOWN.describe('Generations that the guard flagged.'),
});

const CACHE = z.strictObject({
  message_hits: count.describe('Messages found in the cache.'),
  message_misses: count.describe('Messages not found in the cache.'),
  token_hits: count.describe('Tokens found in the cache.'),
  token_misses: count.describe('Tokens not found in the cache.'),
  writes: count.describe('Writes to the cache.'),
  l1_evictions: count.describe('Evictions from the first level.'),
  l2_evictions: count.describe('Evictions from the second level.'),
});

export const CANARIES = z.strictObject({
  from: z
    .enum(['built-in', 'file', 'off', 'workers'])
    .describe('Where the canaries are from; `workers`: each worker of the fleet chose.'),
  checks: count.describe('Checks of a model with the canaries of a modality.'),
  answers: count.describe('Answers over all checks, without skipped canaries.'),
  passed: count.describe('Answers that were as expected.'),
  skipped: count.describe('Canaries that a guard has no probe for.'),
});

const REUSED_FROM = z.strictObject({
  run: z
    .string()
    .nullable()
    .describe('Name of the run that judged; null: all runs beyond the first hundred.'),
  fingerprint: z.string().nullable().describe('Id of the fingerprint of the model that judged.'),
  verdicts: count.describe('Verdicts reused.'),
});

/** Used in summary.json and manifest.json. */
export const JUDGED_COLUMNS = z.strictObject({
  path: z.string().describe('Path of the first of these tables.'),
  files: z.int().min(1).describe('Number of these tables.'),
  judged: z.array(z.string()).describe('Columns that were judged, or their positions.'),
  chosen_by: z
    .enum(CHOSEN_BY)
    .describe(
      'Why: named by the user, known by name or layout, or text by content; `nothing`: no text was recognised.',
    ),
  not_judged: z.array(z.string()).describe('Columns with strings that were not judged, but for ids.'),
});

/** Sums over the outcomes of a run, in summary.json. */
export const COUNTS = z.strictObject({
  items: count.describe('Items of the run.'),
  verdicts: count.describe('Items with a verdict.'),
  errors: count.describe('Items with an error.'),
  whole_files_not_judged: count
    .optional()
    .describe(
      'Of these, files that are one item: nothing of what they hold was judged. Absent if there are none.',
    ),
  flagged: count.describe('Verdicts with the decision `review` or `block`.'),
  guard_flagged: count.describe('Verdicts that the guard itself flagged, whatever the policy decided.'),
  by_decision: byDecision,
  by_category: byName.describe('Verdicts by flagged category; one verdict may count in several.'),
  decisions_by_category: z.record(z.string(), byDecision).describe('The same by decision.'),
  restricted: count.describe('Verdicts that are listed in restricted.csv.'),
  without_category: count.describe(
    'Verdicts that were flagged without a flagged category: not in `by_category`.',
  ),
  decisions_without_category: byDecision.describe('The same by decision.'),
  category_unknown: z
    .partialRecord(z.enum(CATEGORY_KEYS), count)
    .describe(
      'Verdicts that the guard flagged without a score or a flag for the category: they may belong there.',
    ),
  foreign_scored: byName
    .optional()
    .describe('Verdicts with a score in a category of another taxonomy; absent when there are none.'),
  foreign_measured: byName
    .optional()
    .describe(
      'Those of `guard_flagged` with a score or a flag in such a category; absent when there are none.',
    ),
  partial: count.describe('Verdicts on a part of their item only.'),
  judged_as_whole: WHOLE_CONVERSATIONS.describe('Conversations that were judged as a whole only.'),
  by_error_code: z.partialRecord(z.enum(ITEM_CODES), count).describe('Errors by code.'),
  by_error_reason: z
    .partialRecord(z.enum(ITEM_ERROR_REASONS), count)
    .exactOptional()
    .describe('Errors with a reason, which says what to do, by reason.'),
  by_modality: byName.describe('Items by modality; `unknown` for content that was not recognised.'),
  unsupported_files: byName.describe('Files of unsupported types by extension.'),
  guards: z.array(GUARD).describe('The guards, and the models that they judged with.'),
  reused: count.describe('Verdicts that were reused, of earlier runs or of this one.'),
  reused_from: z.array(REUSED_FROM).describe('The same by run and model, the most verdicts first.'),
  without_generation: count
    .exactOptional()
    .describe('Items without a generation to replay, if there are any.'),
  streams: STREAMS.exactOptional().describe('In a run with generations.'),
  cache: CACHE.exactOptional().describe(
    'Sums of CACHE_USAGE over the turns of conversations, if a verdict has it.',
  ),
  thresholds_unapplied: count.describe('Verdicts without a score for a category that has a threshold.'),
  without_ffmpeg: count.describe('Errors because ffmpeg is missing.'),
  without_text_column: count.describe('Errors because no column is recognised as the text.'),
});

/** summary.json. Published as a JSON Schema. */
export const SUMMARY = z
  .strictObject({
    schema: z.literal(1).describe('Version of the format.'),
    run: z.string().describe('Name of the run.'),
    dir: z.string().describe('Absolute path of the run directory when the run finished.'),
    status: z.enum(['finished', 'incomplete']).describe('Finished: every item that was read has an outcome.'),
    trial: TRIAL.nullable().describe('In a trial: which part of the corpora was judged; else null.'),
    policy: POLICY.describe('The policy that made the decisions.'),
    gates: z.array(GATE).describe('The gates of the run; none while it is incomplete.'),
    ...COUNTS.shape,
    canaries: CANARIES.describe('What the models were checked with before they judged.'),
    seconds: z.number().min(0).describe('Time from the start of each writer to its last commit, added up.'),
    pass: z.int().min(1).describe('Passes over the corpus; each retry adds one.'),
    skipped: byName.describe('Files that were found and left out, by reason.'),
    fitted_headers: z
      .array(z.string())
      .describe(
        "Paths of tables that were read with the width of their rows, which is not their header's: surplus names are not used, surplus columns go by their position.",
      ),
    tables: z.array(JUDGED_COLUMNS).exactOptional().describe('Which columns of the tables were judged.'),
    without_header: z
      .array(z.string())
      .exactOptional()
      .describe('Paths of tables whose first row was taken as data.'),
    binary_scores: z
      .array(z.string())
      .exactOptional()
      .describe('Ids of the models whose scores are 0 or 1 only, as their server gives no probabilities.'),
    other_encodings: z
      .array(
        z.strictObject({
          encoding: z.string().nullable().describe('A WHATWG label; null if it was not recognised.'),
          paths: z.array(z.string()).describe('Paths of the files.'),
        }),
      )
      .exactOptional()
      .describe('Files that are not UTF-8, by the encoding that they are most likely in.'),
    empty_sources: z
      .strictObject({
        count: count.describe('Number of files.'),
        paths: z.array(z.string()).describe('Paths of the first of them.'),
      })
      .describe('Files without items.'),
    chain_head: z.string().describe('Hash of the last line of the log.'),
    files: z.array(z.string()).describe('Names of the final files.'),
    rows: byName.describe('Rows, or lines, of the final files that consist of outcomes, without headers.'),
  })
  .meta({ title: 'guardsweep summary', description: 'summary.json: the result of a run.' });

/** Read-only type of a parsed schema value. */
export type Immutable<T> = T extends object ? { readonly [Key in keyof T]: Immutable<T[Key]> } : T;
