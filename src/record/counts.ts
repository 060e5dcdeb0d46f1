import type { z } from 'zod';
import { ITEM_CODES, ITEM_ERROR_REASONS } from '../domain/item-error.ts';
import type { Decision } from '../domain/outcome.ts';
import { MODALITIES } from '../domain/request.ts';
import { CATEGORY_KEYS } from '../domain/taxonomy.ts';
import type { CACHE_USAGE_ORDER } from '../guard/tensors/protocol.ts';
import { NO_MODEL, SHARE_STEPS, splitKey, type ShardTally } from './shard-tally.ts';
import { streamCounts } from './summary/stream-counts.ts';
import type { COUNTS, Immutable } from './summary/summary-schema.ts';

/** Sums over the outcomes of a run. */
export type Counts = Immutable<z.infer<typeof COUNTS>>;

type GuardShare = Counts['guards'][number];
type ReusedShare = Counts['reused_from'][number];
type DecisionCounts = Counts['by_decision'];

/** Sums by key; keys without outcomes are omitted. */
type Sums = Readonly<Record<string, number | undefined>>;

/** Computes the counts of a run from the sums over all shards. */
export function countsOf({ by }: ShardTally): Counts {
  const decided = decisionsOf(by.decision);
  const categories = categoriesOf(by.category);
  const streams = streamCounts(by.with?.generation ?? 0, {
    caution: sharesOf(by.caution),
    flag: sharesOf(by.flag),
  });
  const errors = sumOf(by.code);
  const verdicts = sumOf(by.decision);
  const withoutGeneration = by.reason?.no_generation ?? 0;
  return {
    items: verdicts + errors,
    verdicts,
    errors,
    ...(by.with?.whole_file_not_judged && { whole_files_not_judged: by.with.whole_file_not_judged }),
    flagged: decided.review + decided.block,
    guard_flagged: by.with?.guard_flagged ?? 0,
    by_decision: decided,
    by_category: Object.fromEntries(
      Object.entries(categories).map(([key, of]) => [key, of.allow + of.review + of.block]),
    ),
    decisions_by_category: categories,
    restricted: by.with?.restricted ?? 0,
    without_category: sumOf(by.uncategorised),
    decisions_without_category: decisionsOf(by.uncategorised),
    category_unknown: ordered<number>(by.unmeasured, CATEGORY_KEYS),
    ...(by.foreign_scored && { foreign_scored: ordered<number>(by.foreign_scored, []) }),
    ...(by.foreign_measured && { foreign_measured: ordered<number>(by.foreign_measured, []) }),
    partial: by.with?.partial ?? 0,
    judged_as_whole: {
      conversations: by.whole?.conversations ?? 0,
      earlier_turns: by.whole?.earlier_turns ?? 0,
    },
    by_error_code: ordered<number>(by.code, ITEM_CODES),
    ...(by.reason && { by_error_reason: ordered<number>(by.reason, ITEM_ERROR_REASONS) }),
    by_modality: ordered<number>(by.modality, [...MODALITIES, 'unknown']),
    unsupported_files: ordered<number>(by.extension, []),
    guards: guardShares(by.guard),
    reused: sumOf(by.reused),
    reused_from: reusedShares(by.reused),
    thresholds_unapplied: by.with?.threshold_unapplied ?? 0,
    without_ffmpeg: by.reason?.ffmpeg_missing ?? 0,
    without_text_column: by.reason?.no_text_column ?? 0,
    ...(withoutGeneration > 0 && { without_generation: withoutGeneration }),
    ...(streams && { streams }),
    ...(by.with?.cache_usage !== undefined && { cache: cacheCounts(by.cache) }),
  };
}

function sumOf(sums: Sums = {}): number {
  return Object.values(sums).reduce<number>((sum, by) => sum + by!, 0);
}

/** Converts sums to an object: `keys` in their order, then the others by name. */
function ordered<T>(
  sums: Readonly<Record<string, T | undefined>> | undefined,
  keys: readonly string[],
): Record<string, T> {
  const present = sums ?? {};
  const others = Object.keys(present).filter((key) => !keys.includes(key));
  return Object.fromEntries(
    [...keys, ...others.sort()]
      .filter((key) => Object.hasOwn(present, key))
      .map((key) => [key, present[key]!]),
  );
}

function decisionsOf(sums: Sums = {}): Record<Decision, number> {
  return { allow: sums['allow'] ?? 0, review: sums['review'] ?? 0, block: sums['block'] ?? 0 };
}

/** Decisions by category, from sums by decision and category. */
function categoriesOf(sums: Sums = {}): Record<string, DecisionCounts> {
  const categories = new Map<string, Record<Decision, number>>();
  for (const [key, verdicts] of Object.entries(sums)) {
    const [decision, category] = splitKey(key);
    const counts = categories.get(category) ?? decisionsOf();
    counts[decision as Decision] = verdicts!;
    categories.set(category, counts);
  }
  return ordered(Object.fromEntries(categories), CATEGORY_KEYS);
}

function cacheCounts(sums: Sums = {}): NonNullable<Counts['cache']> {
  const of = (name: (typeof CACHE_USAGE_ORDER)[number]): number => sums[name] ?? 0;
  return {
    message_hits: of('messageHits'),
    message_misses: of('messageMisses'),
    token_hits: of('tokenHits'),
    token_misses: of('tokenMisses'),
    writes: of('writes'),
    l1_evictions: of('l1Evictions'),
    l2_evictions: of('l2Evictions'),
  };
}

function sharesOf(sums: Sums = {}): (readonly [share: number, generations: number])[] {
  return Object.entries(sums)
    .map(([step, generations]) => [Number(step) / SHARE_STEPS, generations!] as const)
    .sort(([a], [b]) => a - b);
}

/** Verdicts by model; `ofModel` makes the keys of `sums`. */
function byModel(sums: Sums = {}): { fingerprint: string | null; name: string; verdicts: number }[] {
  return Object.entries(sums).map(([key, verdicts]) => {
    const [model, name] = splitKey(key);
    return { fingerprint: model === NO_MODEL ? null : model, name, verdicts: verdicts! };
  });
}

/** Guard shares, ordered by endpoint, then by fingerprint. */
function guardShares(sums: Sums | undefined): GuardShare[] {
  const place = ({ endpoint, fingerprint }: GuardShare): string => `${endpoint} ${fingerprint ?? ''}`;
  return byModel(sums)
    .map(({ name, ...share }) => ({ endpoint: name, kind: kindOf(name), ...share }))
    .sort((a, b) => (place(a) < place(b) ? -1 : 1));
}

function reusedShares(sums: Sums | undefined): ReusedShare[] {
  return byModel(sums)
    .map(({ name, ...share }) => ({ run: name === '' ? null : name, ...share }))
    .sort((a, b) => b.verdicts - a.verdicts || ((a.run ?? '') < (b.run ?? '') ? -1 : 1));
}

function kindOf(endpoint: string): GuardShare['kind'] {
  if (endpoint.startsWith('embedded:')) return 'embedded';
  if (endpoint.startsWith('ws')) return 'websocket';
  if (endpoint.startsWith('openai')) return 'openai';
  return endpoint.startsWith('http') ? 'rest' : 'triton';
}
