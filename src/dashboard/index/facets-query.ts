import type { Facets, ItemFilter } from '../api/items.ts';
import { MODALITIES } from '../../domain/request.ts';
import { conditionsOf, DIMENSIONS, type Dimension } from './conditions.ts';
import type { Database, Row } from '../../analysis/database.ts';
import { DECISION_NUMBERS } from '../../analysis/verdict-columns.ts';
import { REVIEW_NUMBERS } from '../../analysis/reviewed-items.ts';
import { FLAG_BITS } from './items-table.ts';

const MAX_CORPORA = 100;
const BINS = 50;

const COLUMNS: Readonly<Record<Dimension, string>> = {
  decision: 'decision',
  category: 'flags',
  modality: 'modality',
  corpus: 'corpus',
  error_code: 'error_code',
  review: 'review',
  fresh: 'fresh',
  score: 'score_h',
};

/**
 * Counts the items by everything that can be filtered, each count with all other filters applied. A single pass marks
 * with a bit per dimension which filters an item fails, and groups equal items. An item that fails two filters is in no
 * count.
 */
export async function queryFacets(
  database: Database,
  filter: ItemFilter,
  signal: AbortSignal,
): Promise<Omit<Facets, 'fresh'> & { readonly fresh: number }> {
  const { by, search, values } = conditionsOf(filter);
  const fails = DIMENSIONS.flatMap((dimension, index) =>
    by[dimension].length === 0
      ? []
      : [`(CASE WHEN ${by[dimension].join(' AND ')} THEN 0 ELSE ${1 << index} END)`],
  );
  const counts = DIMENSIONS.map((dimension, index) => {
    const select = `SELECT '${dimension}', ${dimension}::VARCHAR, sum(items) FROM kept
      WHERE (fails & ${~(1 << index) & 0xff}) = 0 AND ${dimension} IS NOT NULL GROUP BY ${dimension}`;
    return dimension === 'corpus'
      ? `(${select} ORDER BY sum(items) DESC, corpus LIMIT ${MAX_CORPORA})`
      : select;
  });
  const rows = await database.query(
    `WITH marked AS (
       SELECT ${DIMENSIONS.map((dimension) => `${COLUMNS[dimension]} AS ${dimension}`).join(', ')},
         (${fails.length === 0 ? '0' : fails.join(' | ')})::UTINYINT AS fails
       FROM items WHERE ${search.length === 0 ? 'true' : search.join(' AND ')}
     ), kept AS MATERIALIZED (
       SELECT *, count(*) AS items FROM marked WHERE bit_count(fails) <= 1 GROUP BY ALL
     )
     SELECT 'total', '', coalesce(sum(items), 0) FROM kept WHERE fails = 0 UNION ALL ${counts.join(' UNION ALL ')}`,
    values,
    signal,
  );
  return facetsOf(rows);
}

function facetsOf(rows: readonly Row[]): Awaited<ReturnType<typeof queryFacets>> {
  const found = new Map<string, Map<string, number>>();
  for (const [dimension, value, items] of rows) {
    const counts = found.get(dimension as string) ?? new Map<string, number>();
    found.set(dimension as string, counts.set(value as string, Number(items)));
  }
  const countsOf = (dimension: Dimension): ReadonlyMap<string, number> => found.get(dimension) ?? new Map();
  const numbered = <K extends string>(dimension: Dimension, numbers: Readonly<Record<K, number>>) =>
    Object.fromEntries(
      Object.entries<number>(numbers).map(([name, number]) => [
        name,
        countsOf(dimension).get(String(number)) ?? 0,
      ]),
    ) as Record<K, number>;
  const categories: Record<string, number> = {};
  for (const [key, bit] of Object.entries(FLAG_BITS)) {
    categories[key] = 0;
    for (const [flags, items] of countsOf('category'))
      if ((Number(flags) & bit) !== 0) categories[key] += items;
  }
  const scores = new Array<number>(BINS).fill(0);
  for (const [hundredths, items] of countsOf('score'))
    scores[Math.min(BINS - 1, Math.floor((Number(hundredths) * BINS) / 100))]! += items;
  const corpora = [...countsOf('corpus')].map(([corpus, items]) => ({ corpus, items }));
  return {
    total: found.get('total')!.get('')!,
    decisions: numbered('decision', DECISION_NUMBERS),
    categories,
    modalities: Object.fromEntries(MODALITIES.map((each) => [each, countsOf('modality').get(each) ?? 0])),
    corpora: corpora.sort((a, b) => b.items - a.items || (a.corpus < b.corpus ? -1 : 1)),
    error_codes: Object.fromEntries(countsOf('error_code')),
    reviews: numbered('review', REVIEW_NUMBERS),
    fresh: countsOf('fresh').get('true') ?? 0,
    scores,
  };
}
