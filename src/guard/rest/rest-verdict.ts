import { z } from 'zod';
import { categoryBySpelling, isPlausibleCategoryName } from '../../domain/words/category-spelling.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import type { Answer } from '../protocol/answer.ts';
import { parseReply } from '../protocol/parse-reply.ts';

/** Max keys of `subcategory_flags` in a valid reply. The taxonomy has 13. */
const MAX_KEYS = 64;

const verdict = z.object({
  flagged: z.boolean(),
  score: z.number().min(0).max(1),
  subcategory_flags: z.custom<Readonly<Record<string, boolean>>>(areFlags),
  latency_ms: z.number().nonnegative(),
});

/**
 * Reads the answer in a REST verdict; null when the body is not one. It has no category scores. Set flags count even if
 * the content as a whole is not flagged. A key that is not in the taxonomy in any spelling is kept as received, if it
 * is a plausible name.
 */
export function decodeVerdict(body: Buffer): Answer | null {
  const parsed = verdict.safeParse(parseReply(body.toString('utf8')));
  if (!parsed.success) return null;
  const { score, flagged, subcategory_flags: flags } = parsed.data;
  const entries = Object.entries(flags);
  const set = new Set(entries.filter(([, isSet]) => isSet).map(([key]) => categoryBySpelling(key) ?? key));
  const unpopulated = set.size === 0 && (!flagged || entries.length === 0);
  return {
    score,
    flagged,
    subcategoryScores: null,
    subcategoryFlags: unpopulated ? null : inOrder(set),
    cacheUsage: null,
  };
}

/** Replaces `z.record`, which drops the key `__proto__` and with it a flag. */
function areFlags(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_KEYS &&
    entries.every(([key, isSet]) => isPlausibleCategoryName(key) && typeof isSet === 'boolean')
  );
}

/** Sorts known keys by the taxonomy, followed by the others in the order received. */
function inOrder(keys: ReadonlySet<string>): string[] {
  const known: readonly string[] = CATEGORY_KEYS;
  return [...known.filter((key) => keys.has(key)), ...[...keys].filter((key) => !known.includes(key))];
}
