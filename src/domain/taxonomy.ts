/** The hazard taxonomy. A category's index is its position in the guard's 13-wide tensors. */

type CategoryGroup = 'physical' | 'non-physical' | 'contextual';

const TABLE = [
  ['violent_crimes', 'Violent Crimes', 'physical'],
  ['non_violent_crimes', 'Non-Violent Crimes', 'non-physical'],
  ['sex_related_crimes', 'Sex-Related Crimes', 'physical'],
  ['child_sexual_exploitation', 'Child Sexual Exploitation', 'physical'],
  ['defamation', 'Defamation', 'non-physical'],
  ['specialized_advice', 'Specialized Advice', 'contextual'],
  ['indiscriminate_weapons', 'Indiscriminate Weapons (CBRNE)', 'physical'],
  ['hate', 'Hate', 'non-physical'],
  ['privacy', 'Privacy', 'non-physical'],
  ['intellectual_property', 'Intellectual Property', 'non-physical'],
  ['sexual_content', 'Sexual Content', 'contextual'],
  ['suicide_self_harm', 'Suicide & Self-Harm', 'physical'],
  ['cybersecurity', 'Cybersecurity', 'contextual'],
] as const satisfies readonly (readonly [string, string, CategoryGroup])[];

export type CategoryKey = (typeof TABLE)[number][0];

interface Category {
  readonly index: number;
  /** Key used in files. */
  readonly key: CategoryKey;
  /** Display name, also used as the label in training data. */
  readonly label: string;
  readonly group: CategoryGroup;
}

export const CATEGORIES: readonly Category[] = TABLE.map(([key, label, group], index) => ({
  index,
  key,
  label,
  group,
}));

export const CATEGORY_KEYS: readonly CategoryKey[] = TABLE.map(([key]) => key);

export const CATEGORY_COUNT = TABLE.length;

/** Name for all further categories outside the taxonomy where only a bounded number is kept by name. */
export const OTHER_CATEGORIES = 'other_categories';

const KNOWN: ReadonlySet<string> = new Set(CATEGORY_KEYS);

/** Whether a string is the key of a category in the taxonomy. */
export function isCategoryKey(name: string): name is CategoryKey {
  return KNOWN.has(name);
}

/**
 * A category of another taxonomy, such as `openai/harassment/threatening`. Never equal to one of ours, even if its name
 * is similar. Such names come from guards, and are printed and recorded.
 */
export type ForeignCategory = `${string}/${string}`;

export type CategoryName = CategoryKey | ForeignCategory;

/** Probabilities of the categories that the guard scored. */
export type CategoryScores = Readonly<Partial<Record<CategoryName, number>>>;

/** Maximum foreign categories that a run or a policy keeps by name. */
export const MAX_FOREIGN_CATEGORIES = 64;

/** Taxonomies of other guards; `policy` is that of a written policy. */
const TAXONOMIES = ['openai', 'llama-guard', 'qwen3guard', 'shieldgemma', 'granite-guardian', 'policy'];

/** Source of a regular expression that must match the whole name of a foreign category, here and in SQL. */
export const FOREIGN_CATEGORY = `(?:${TAXONOMIES.join('|')})/[a-z0-9][a-z0-9_/-]{0,79}`;

const FOREIGN = new RegExp(`^${FOREIGN_CATEGORY}$`);

export function isForeignCategory(name: string): name is ForeignCategory {
  return FOREIGN.test(name);
}

/** Whether a string names a category of ours or of another taxonomy. */
export function isCategoryName(name: string): name is CategoryName {
  return isCategoryKey(name) || isForeignCategory(name);
}

/** Lists the foreign categories in a record by category, in order of name. */
export function listForeignCategories(
  record: Readonly<Partial<Record<CategoryName, unknown>>> | null,
): ForeignCategory[] {
  const names: ForeignCategory[] = [];
  for (const name in record) if (isForeign(name)) names.push(name);
  return names.sort();
}

/** Whether a category is foreign. Must be called with a valid category name. */
function isForeign(name: string): name is ForeignCategory {
  return name.includes('/');
}
