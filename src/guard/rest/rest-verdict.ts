import { z } from 'zod';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import type { Answer } from '../answer.ts';
import { worstFlags } from '../worst-flags.ts';
import { categoryOf } from './category-names.ts';

/** Most keys, and longest key, of `subcategory_flags` that is believed: thirteen names are known. */
const MAX_KEYS = 256;
const MAX_KEY_LENGTH = 100;

const verdict = z.object({
  flagged: z.boolean(),
  score: z.number().min(0).max(1),
  subcategory_flags: z
    .record(z.string().min(1).max(MAX_KEY_LENGTH), z.boolean())
    .refine((flags) => Object.keys(flags).length <= MAX_KEYS),
  latency_ms: z.number().nonnegative(),
});

/**
 * The answer in a REST verdict; null when the body is not one. Probabilities of categories it has none. Set flags
 * count, also of something that is not flagged altogether; under a key that is not the taxonomy's in any spelling they
 * stay as given.
 */
export function decodeVerdict(body: Buffer): Answer | null {
  let json: unknown;
  try {
    json = JSON.parse(body.toString('utf8'));
  } catch {
    return null;
  }
  const parsed = verdict.safeParse(json);
  if (!parsed.success) return null;
  const { score, flagged, subcategory_flags: flags } = parsed.data;
  const entries = Object.entries(flags);
  const set = new Set(entries.filter(([, isSet]) => isSet).map(([key]) => categoryOf(key) ?? key));
  const unpopulated = set.size === 0 && (!flagged || entries.length === 0);
  return {
    score,
    flagged,
    subcategoryScores: null,
    subcategoryFlags: unpopulated ? null : inOrder(set),
    cacheUsage: null,
  };
}

/** Known keys in the order of the taxonomy, then the others as they came. */
function inOrder(keys: ReadonlySet<string>): string[] {
  const known: readonly string[] = CATEGORY_KEYS;
  return [...known.filter((key) => keys.has(key)), ...[...keys].filter((key) => !known.includes(key))];
}

/**
 * One answer for an image and its caption, or a clip and its transcript, judged apart: that of the higher score,
 * flagged if either is, and with those flags of the other that alone raise a decision.
 */
export function worstOf(first: Answer, second: Answer): Answer {
  const [worse, other] = second.score > first.score ? [second, first] : [first, second];
  return {
    ...worse,
    flagged: first.flagged || second.flagged,
    subcategoryFlags: worstFlags(worse, other),
  };
}
