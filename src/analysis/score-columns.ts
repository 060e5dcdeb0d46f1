import { mappedCategoryNames, type Policy, type Taxonomy } from '../domain/policy.ts';
import {
  CATEGORY_KEYS,
  listForeignCategories,
  isCategoryKey,
  isForeignCategory,
  MAX_FOREIGN_CATEGORIES,
  type CategoryName,
  type ForeignCategory,
} from '../domain/taxonomy.ts';
import type { Database } from './database.ts';
import { sqlText } from './duckdb.ts';
import { VERDICTS_IN_TABLE } from './verdict-columns.ts';

/**
 * The categories that verdicts may have scores in: the 13 of the taxonomy, then foreign ones in order of name. The
 * score of the category at position i is in column `s<i>`.
 */
export class ScoreColumns {
  readonly names: readonly CategoryName[];
  /** Foreign categories with scores in the verdicts, not those that are only flagged or named by a policy. */
  readonly #scored: ReadonlySet<string>;
  readonly #taxonomy: Taxonomy;

  private constructor(
    scored: readonly ForeignCategory[],
    flagged: readonly ForeignCategory[],
    policies: readonly Policy[],
  ) {
    const named = policies.flatMap(({ thresholds }) => listForeignCategories(thresholds));
    this.#taxonomy = policies.at(-1)?.taxonomy ?? {};
    this.#scored = new Set(scored);
    const all = new Set([...scored, ...flagged, ...named]);
    this.names = [...CATEGORY_KEYS, ...[...all].sort()];
  }

  /**
   * Reads the score columns of the verdicts.parquet at a path, for policies that will decide on it; the taxonomy of the
   * last policy applies.
   */
  static async of(
    database: Database,
    table: string,
    policies: readonly Policy[],
    signal: AbortSignal,
  ): Promise<ScoreColumns> {
    const namesIn = async (sql: string): Promise<ForeignCategory[]> => {
      const rows = await database.query(sql, [table], signal);
      return rows.map(([name]) => String(name)).filter(isForeignCategory);
    };
    const scored = await namesIn('SELECT name FROM parquet_schema($1)');
    const flagged = await namesIn(`SELECT DISTINCT unnest(subcategory_flags) FROM ${VERDICTS_IN_TABLE}`);
    return new ScoreColumns(scored, flagged.slice(0, MAX_FOREIGN_CATEGORIES), policies);
  }

  /** Score columns for verdicts without scores in foreign categories. */
  static ofTaxonomy(policies: readonly Policy[]): ScoreColumns {
    return new ScoreColumns([], [], policies);
  }

  columnOf(name: CategoryName): string {
    return `s${this.names.indexOf(name)}`;
  }

  get columns(): readonly string[] {
    return this.names.map((_, index) => `s${index}`);
  }

  /** Column expressions over verdicts.parquet. A missing score is -1, which reaches no threshold. */
  get expressions(): readonly string[] {
    return this.names.map((name, at) => `${this.#scoreOf(name)} AS s${at}`);
  }

  /** The flagged categories, including those of ours to which the policy maps other categories. */
  get flags(): string {
    const names = mappedCategoryNames(this.#taxonomy);
    const added = names.map((name) => {
      return `CASE WHEN list_contains(subcategory_flags, ${sqlText(name)}) THEN ['${this.#taxonomy[name]!}'] ELSE [] END`;
    });
    const replaced = names.filter((name) => !isForeignCategory(name)).map(sqlText);
    const kept =
      replaced.length === 0
        ? 'subcategory_flags'
        : `list_filter(subcategory_flags, lambda flag: flag NOT IN (${replaced.join(', ')}))`;
    return [kept, ...added].join(' || ');
  }

  #scoreOf(name: CategoryName): string {
    const alike = listForeignCategories(this.#taxonomy).filter((foreign) => this.#taxonomy[foreign] === name);
    const scored = [name, ...alike].filter((each) => this.#isInTable(each));
    if (scored.length === 0) return '-1::DOUBLE';
    const known = scored.map((each) => `coalesce("${each}", -1)`);
    return known.length === 1 ? known[0]! : `greatest(${known.join(', ')})`;
  }

  /** The categories with a column in verdicts.parquet, where null means no score. */
  get inTable(): readonly CategoryName[] {
    return this.names.filter((name) => this.#isInTable(name));
  }

  #isInTable(name: CategoryName): boolean {
    return isCategoryKey(name) || this.#scored.has(name);
  }
}
