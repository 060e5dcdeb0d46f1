import { CATEGORIES, type CategoryKey } from '../../domain/taxonomy.ts';

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
