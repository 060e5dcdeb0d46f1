import { CATEGORIES, type CategoryKey } from '../../domain/taxonomy.ts';

const MAX_NAME_LENGTH = 100;

/**
 * Letters and digits of any script, single spaces, and the signs that names are made with. Nothing that a terminal, a
 * spreadsheet or a web page acts on, and nothing that cannot be seen: names are printed and kept.
 */
const NAME = /^(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}](?: ?[\p{L}\p{M}\p{N}_&/,.:()'+-])*$/u;

/** Whether a key of `subcategory_flags` looks like the name of a category, known or not. */
export function isCategoryName(key: string): boolean {
  return key.length <= MAX_NAME_LENGTH && NAME.test(key);
}

/**
 * The category that a key of `subcategory_flags` names, in whatever spelling: the contract does not show its keys.
 * Case, separators, «and» or «&», and what stands in parentheses make no difference: `violent_crimes`,
 * `Violent Crimes`, `violentCrimes`, `Suicide and Self-Harm`. Null for any other name.
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
