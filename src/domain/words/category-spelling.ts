import { CATEGORIES, type CategoryKey } from '../taxonomy.ts';

/** Other names of Child Sexual Exploitation, which restricts an item, so every spelling must be recognised. */
const CHILD_EXPLOITATION: ReadonlySet<string> = new Set(
  [
    ...['S4', 'CSAM', 'CSEM', 'CSEA', 'CSE', 'child exploitation', 'child sexual abuse', 'sexual/minors'],
    ...['child sexual abuse material', 'child sexual exploitation and abuse', 'minors/sexual'],
    ...['child sexual exploitation material', 'sexual exploitation of children', 'sexualization of minors'],
    ...['sexual abuse of children', 'child pornography', 'sexual content involving minors'],
  ].map(plainName),
);

const MAX_NAME_LENGTH = 100;

/**
 * Letters and digits of any script, single spaces, and common punctuation. No invisible characters and none that a
 * terminal, a spreadsheet or a web page interprets, because names are printed and recorded.
 */
const NAME = /^(?!.*\p{Default_Ignorable_Code_Point})[\p{L}\p{N}](?: ?[\p{L}\p{M}\p{N}_&/,.:()'+-])*$/u;

/** Whether a guard's category name can be recorded, known or not. */
export function isPlausibleCategoryName(name: string): boolean {
  return name.length <= MAX_NAME_LENGTH && NAME.test(name);
}

/**
 * Recognises the category that a guard's name means; null for an unknown name. The contract does not specify the names,
 * so case, separators, "and" or "&", a code such as `S4:`, and text in parentheses are ignored: `violent_crimes`,
 * `Violent Crimes`, `violentCrimes`, `S1: Violent Crimes`, `Suicide and Self-Harm`.
 */
export function categoryBySpelling(name: string): CategoryKey | null {
  const plain = plainName(name);
  if (CHILD_EXPLOITATION.has(plain)) return 'child_sexual_exploitation';
  const found = CATEGORIES.find(({ key, label }) => plain === plainName(key) || plain === plainName(label));
  return found?.key ?? null;
}

function plainName(name: string): string {
  return name
    .replace(/^S\d{1,2}[ :.)-]+(?=\p{L})/iu, '')
    .replace(/([a-z])(?=[A-Z])/g, '$1 ')
    .toLowerCase()
    .replace(/\([^()]*\)/g, '')
    .replace(/(^|[^a-z])and(?=[^a-z])/g, '$1')
    .replace(/[^a-z0-9]/g, '')
    .replace(/cbrne$/, '');
}
