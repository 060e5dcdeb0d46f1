import type { OutcomeLine } from '../../../domain/outcome.ts';
import { CATEGORY_KEYS, isCategoryKey, OTHER_CATEGORIES } from '../../../domain/taxonomy.ts';
import type { CategoryRow } from '../report-data.ts';
import { flaggedCategories } from '../flagged-categories.ts';

/** Categories outside the taxonomy that are counted apart: a guard may flag any name. */
const MAX_UNKNOWN = 20;

type Counts = { -readonly [Key in keyof CategoryRow]: CategoryRow[Key] };

/** Counts verdicts that are flagged, by the guard or by the decision: each once, by its main category, and by any. */
export class CategoryTally {
  readonly #rows = new Map<string | null, Counts>();
  #unknown = 0;

  add(line: OutcomeLine): void {
    if (line.decision === null || (line.decision === 'allow' && line.flagged !== true)) {
      if ((line.subcategory_flags ?? []).length === 0) return;
    }
    const flags = flaggedCategories(line);
    this.#row(flags[0] ?? null)[line.decision!]++;
    if (flags.length === 0) this.#row(null).any++;
    for (const flag of flags) this.#row(flag).any++;
  }

  rows(): CategoryRow[] {
    const place = ({ category }: CategoryRow): number => {
      if (category === null) return Infinity;
      const index = CATEGORY_KEYS.findIndex((key) => key === category);
      return index === -1 ? CATEGORY_KEYS.length : index;
    };
    return [...this.#rows.values()].sort((a, b) => place(a) - place(b));
  }

  #row(flag: string | null): Counts {
    let category = flag;
    if (flag !== null && !isCategoryKey(flag) && !this.#rows.has(flag)) {
      if (this.#unknown === MAX_UNKNOWN) category = OTHER_CATEGORIES;
      else this.#unknown++;
    }
    let row = this.#rows.get(category);
    if (row === undefined) {
      row = { category, block: 0, review: 0, allow: 0, any: 0 };
      this.#rows.set(category, row);
    }
    return row;
  }
}
