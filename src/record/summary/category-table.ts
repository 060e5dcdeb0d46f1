import type { Decision } from '../../domain/outcome.ts';
import { CATEGORIES } from '../../domain/taxonomy.ts';
import { plural } from '../../domain/text/plural.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { displayWidth, truncateToWidth, padToWidth } from '../../domain/text/characters.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Counts } from '../counts.ts';
import { number } from './listed.ts';

const MAX_NAME_COLUMNS = 40;

/** Larger than the taxonomy: a guard may flag any number of names. */
const MAX_ROWS = 20;

interface Row {
  readonly name: string;
  readonly counts: Readonly<Record<Decision, number>>;
}

/**
 * The flagged categories as a table: the most frequent first, block and review in separate columns, then items without
 * a category. Has an `allow` column if a policy allows items that the guard flagged. Adds a note when the rows add up
 * to more than the flagged items.
 */
export function categoryTable(summary: Counts): string[] {
  const { by_category, decisions_by_category, without_category, decisions_without_category } = summary;
  const rows: Row[] = Object.entries(by_category)
    .sort(([, a], [, b]) => b - a)
    .map(([key]) => ({ name: categoryName(key), counts: decisions_by_category[key]! }));
  if (without_category > 0) rows.push({ name: 'no category', counts: decisions_without_category });
  if (rows.length === 0) return [];
  const hasAllowed = rows.some(({ counts }) => counts.allow > 0);
  const columns: Decision[] = hasAllowed ? ['block', 'review', 'allow'] : ['block', 'review'];
  const cells = [
    ['Flagged categories:', ...columns],
    ...rows
      .slice(0, MAX_ROWS)
      .map(({ name, counts }) => [`  ${name}`, ...columns.map((decision) => number(counts[decision]))]),
  ];
  const more = rows.length - MAX_ROWS;
  return [
    ...aligned(cells),
    ...(more > 0 ? [`  … ${number(more)} more (${RUN_FILES.summary})`] : []),
    ...overlap(rows, summary.flagged),
  ];
}

function sumOf(rows: readonly Row[]): Readonly<Record<Decision, number>> {
  const sum = { allow: 0, review: 0, block: 0 };
  for (const { counts } of rows) {
    for (const decision of ['allow', 'review', 'block'] as const) sum[decision] += counts[decision];
  }
  return sum;
}

function overlap(rows: readonly Row[], flagged: number): string[] {
  const { review, block } = sumOf(rows);
  if (review + block <= flagged) return [];
  return [
    `  ${number(review + block)} in all rows, ${number(flagged)} ${plural(flagged, 'item')}: an item may be in several rows`,
  ];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => displayWidth(row[at]!))));
  return rows.map(([name, ...counts]) =>
    [padToWidth(name!, widths[0]!), ...counts.map((count, at) => count.padStart(widths[at + 1]!))].join('  '),
  );
}

/** Display name of a category: a guard may flag any name. */
function categoryName(key: string): string {
  const { label } = CATEGORIES.find((category) => category.key === key) ?? {};
  return label ?? truncateToWidth(quoteName(key), MAX_NAME_COLUMNS);
}
