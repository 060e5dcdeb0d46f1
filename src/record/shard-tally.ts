import { z } from 'zod';
import { ITEM_CODES, ITEM_ERROR_REASONS } from '../domain/item-error.ts';
import { DECISIONS } from '../domain/outcome.ts';
import { MODALITIES } from '../domain/request.ts';
import { CATEGORY_KEYS } from '../domain/taxonomy.ts';
import { CACHE_USAGE_ORDER } from '../guard/tensors/protocol.ts';

/** Shares in an outcome line have four decimals. */
export const SHARE_STEPS = 10_000;

const some = z.number().positive();
const whole = z.int().min(1);
const byDecision = z.partialRecord(z.enum(DECISIONS), whole);
const byShare = z.record(z.string().regex(/^(?:10000|[1-9]?[0-9]{1,3})$/), whole);
/** By the id of a model (`-` if unknown), a space, and the name of a guard or a run. */
const byModel = z.record(z.string().regex(/^\S+ /), whole);

/** Counts of outcomes by several keys. Keys without outcomes are omitted. */
const COUNTED = {
  modality: z.partialRecord(z.enum([...MODALITIES, 'unknown']), whole),
  decision: byDecision,
  code: z.partialRecord(z.enum(ITEM_CODES), whole),
  reason: z.partialRecord(z.enum(ITEM_ERROR_REASONS), whole),
  /** By decision, a space, and the category. */
  category: z.record(z.string().regex(/^(?:allow|review|block) /), whole),
  /** Flagged without a category. */
  uncategorised: byDecision,
  /** Categories without a score or a flag in a flagged verdict. */
  unmeasured: z.partialRecord(z.enum(CATEGORY_KEYS), whole),
  /** Verdicts with a score in an external category. */
  foreign_scored: z.record(z.string(), whole),
  /** Flagged verdicts with a score or a flag in an external category. */
  foreign_measured: z.record(z.string(), whole),
  /** Unsupported files by extension. */
  extension: z.record(z.string(), whole),
  guard: byModel,
  reused: byModel,
  /** Generations that were raised, by the share of the response that had been shown, in steps. */
  caution: byShare,
  flag: byShare,
  /** Sums of CACHE_USAGE over turns. */
  cache: z.partialRecord(z.enum(CACHE_USAGE_ORDER), some),
  /** Outcomes with a property. */
  with: z.partialRecord(
    z.enum([
      'guard_flagged',
      'restricted',
      'partial',
      'whole_file_not_judged',
      'threshold_unapplied',
      'generation',
      'cache_usage',
      'batch_part',
    ]),
    whole,
  ),
  /** Conversations judged as a whole, and their turns before the last. */
  whole: z.partialRecord(z.enum(['conversations', 'earlier_turns']), whole),
} as const;

export type Dimension = keyof typeof COUNTED;
export type Key<D extends Dimension> = keyof z.infer<(typeof COUNTED)[D]> & string;

export const DIMENSIONS = Object.keys(COUNTED) as Dimension[];

const count = z.int().min(0);

/** The sums of a shard as stored in its commit line. The sums of all shards add up to those of the run. */
export const SHARD_TALLY = z.strictObject({
  items: count,
  errors: count,
  review: count,
  block: count,
  by: z.strictObject(COUNTED).partial(),
});

export type ShardTally = z.infer<typeof SHARD_TALLY>;

/** Sums needed for progress. */
export interface ShardCounts {
  readonly items: number;
  readonly errors: number;
  /** Verdicts by decision; the rest of `items - errors` is `allow`. */
  readonly review: number;
  readonly block: number;
}

export const NO_MODEL = '-';

export function ofModel(fingerprint: string | null, name: string): string {
  return `${fingerprint ?? NO_MODEL} ${name}`;
}

/** Splits a key at its first space. */
export function splitKey(key: string): readonly [string, string] {
  const at = key.indexOf(' ');
  return [key.slice(0, at), key.slice(at + 1)];
}
