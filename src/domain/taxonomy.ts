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
  /** The key used in files. */
  readonly key: CategoryKey;
  /** The display name, also used as the label in training data. */
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

/** Stands for further categories outside the taxonomy, where only a bounded number is kept by name. */
export const OTHER_CATEGORIES = 'other_categories';

const KNOWN: ReadonlySet<string> = new Set(CATEGORY_KEYS);

/** Whether a string is the key of a category in the taxonomy. */
export function isCategoryKey(name: string): name is CategoryKey {
  return KNOWN.has(name);
}
