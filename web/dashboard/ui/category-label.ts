import { CATEGORIES, OTHER_CATEGORIES } from '../../../src/domain/taxonomy.ts';

/** The name of a category of a record: in words for those of the taxonomy. */
export function categoryLabel(key: string): string {
  if (key === OTHER_CATEGORIES) return 'Other categories';
  return CATEGORIES.find((category) => category.key === key)?.label ?? key;
}
