import { z } from 'zod';
import { CATEGORIES, CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import type { Answer } from '../protocol/answer.ts';

/** Max keys of `subcategory_flags` in a valid reply. The taxonomy has 13. */
const MAX_KEYS = 64;

const verdict = z.object({
  flagged: z.boolean(),
  score: z.number().min(0).max(1),
  subcategory_flags: z.custom<Readonly<Record<string, boolean>>>(areFlags),
  latency_ms: z.number().nonnegative(),
});

/**
 * The answer in a REST verdict; null when the body is not one. It has no scores of categories. Flags that are set count
 * even if the content as a whole is not flagged. A key that is not of the taxonomy in any spelling is kept as received, if
 * it is a plausible name.
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

/** Not `z.record`, which drops the key `__proto__` and with it a flag. */
function areFlags(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const entries = Object.entries(value);
  return (
    entries.length <= MAX_KEYS &&
    entries.every(([key, isSet]) => isCategoryName(key) && typeof isSet === 'boolean')
  );
}

/** Known keys in the order of the taxonomy, then the others in the order received. */
function inOrder(keys: ReadonlySet<string>): string[] {
  const known: readonly string[] = CATEGORY_KEYS;
  return [...known.filter((key) => keys.has(key)), ...[...keys].filter((key) => !known.includes(key))];
}

const MAX_NAME_LENGTH = 100;

/**
 * Letters and digits of any script, single spaces, and common punctuation. Nothing invisible, and nothing that a terminal,
 * a spreadsheet or a web page interprets, because names are printed and recorded.
 */
// linear: anchored; the look-ahead and the rest go through the text once each.
const NAME = /^(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}](?: ?[\p{L}\p{M}\p{N}_&/,.:()'+-])*$/u;

/** Whether a key of `subcategory_flags` is a plausible category name, known or not. */
export function isCategoryName(key: string): boolean {
  return key.length <= MAX_NAME_LENGTH && NAME.test(key);
}

/**
 * The category named by a key of `subcategory_flags`; null for an unknown name. The contract does not show the keys, so
 * case, separators, "and" or "&", and text in parentheses do not matter: `violent_crimes`, `Violent Crimes`,
 * `violentCrimes`, `Suicide and Self-Harm`.
 */
export function categoryOf(name: string): CategoryKey | null {
  const plain = plainName(name);
  const found = CATEGORIES.find(({ key, label }) => plain === plainName(key) || plain === plainName(label));
  return found?.key ?? null;
}

function plainName(name: string): string {
  return name
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .replace(/\([^()]*\)/g, '')
    .replace(/(^|[^a-z])and(?=[^a-z])/g, '$1')
    .replace(/[^a-z0-9]/g, '')
    .replace(/cbrne$/, '');
}
