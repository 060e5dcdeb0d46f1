import type { DuckDBValue } from '@duckdb/node-api';
import type { z } from 'zod';
import type { Database } from '../../analysis/database.ts';
import type { ITEM_QUERY, ItemFilter } from '../api/items.ts';
import { DECISION_NUMBERS } from '../../analysis/verdict-columns.ts';
import { IS_REVIEWED, REVIEW_NUMBERS } from '../../analysis/reviewed-items.ts';
import { FLAG_BITS } from './items-table.ts';

/** Filters that are counted: all except the search. */
export const DIMENSIONS = [
  'decision',
  'category',
  'modality',
  'corpus',
  'error_code',
  'review',
  'fresh',
  'score',
] as const;

export type Dimension = (typeof DIMENSIONS)[number];

/** A filter as SQL over `items`. */
export interface Conditions {
  /** Conditions that must all hold; an empty list holds for every item. */
  readonly by: Readonly<Record<Dimension, readonly string[]>>;
  readonly search: readonly string[];
  /** Values of the parameters, from `$1` on. */
  readonly values: DuckDBValue[];
}

/** Combines all conditions of a filter. */
export function allOf({ by, search }: Conditions): string {
  const all = [...DIMENSIONS.flatMap((dimension) => by[dimension]), ...search];
  return all.length === 0 ? 'true' : all.join(' AND ');
}

/** Translates a filter to SQL conditions. Every value is a parameter or a number computed here. */
export function conditionsOf(filter: ItemFilter): Conditions {
  const values: DuckDBValue[] = [];
  const parameter = (value: DuckDBValue): string => `$${values.push(value)}`;
  const anyOf = (column: string, names: readonly string[]): string[] =>
    names.length === 0 ? [] : [`${column} IN (${names.map(parameter).join(', ')})`];
  const decisions = filter.decisions.map((decision) => DECISION_NUMBERS[decision]);
  const flags = filter.categories.reduce((mask, key) => mask | FLAG_BITS[key]!, 0);
  const { minScore, maxScore } = filter;
  const by: Record<Dimension, readonly string[]> = {
    decision: decisions.length === 0 ? [] : [`decision IN (${decisions.join(', ')})`],
    category: flags === 0 ? [] : [`(flags & ${flags}) <> 0`],
    modality: anyOf('modality', filter.modalities),
    corpus: anyOf('corpus', filter.corpora),
    error_code: anyOf('error_code', filter.errorCodes),
    review: reviewCondition(filter.review),
    fresh: filter.fresh ? ['fresh'] : [],
    score: [
      ...(minScore === null ? [] : [`score >= ${parameter(minScore)}::DOUBLE`]),
      ...(maxScore === null ? [] : [`score <= ${parameter(maxScore)}::DOUBLE`]),
    ],
  };
  // Conditions for which no counts by value are needed.
  const search: string[] = [];
  if (filter.search !== '') {
    const needle = `lower(${parameter(filter.search)})`;
    search.push(`(contains(id, ${needle}) OR contains(path, ${needle}))`);
  }
  if (filter.seqs !== null)
    search.push(filter.seqs.length === 0 ? 'false' : `seq IN (${filter.seqs.join(', ')})`);
  return { by, search, values };
}

function reviewCondition(review: ItemFilter['review']): readonly string[] {
  if (review === 'any') return [];
  return [review === 'open' ? `NOT ${IS_REVIEWED}` : `review = ${REVIEW_NUMBERS[review]}`];
}

type PageQuery = z.output<typeof ITEM_QUERY>;

const ORDERS: Readonly<Record<PageQuery['sort'], string>> = {
  open: `${IS_REVIEWED}, decision DESC, score DESC NULLS LAST, seq`,
  severity: 'decision DESC, score DESC NULLS LAST, seq',
  uncertainty: 'abs(score - 0.5) NULLS LAST, seq',
  score_up: 'score NULLS LAST, seq',
  latency: 'latency_ms DESC NULLS LAST, seq',
  corpus: 'seq',
};

/** Returns the items of a page, in order, and the number of items that pass the filter. */
export async function queryPage(
  database: Database,
  { filter, sort, offset, limit }: PageQuery,
  signal: AbortSignal,
): Promise<{ readonly total: number; readonly seqs: readonly number[] }> {
  const conditions = conditionsOf(filter);
  const where = allOf(conditions);
  const { values } = conditions;
  const [counted, page] = await Promise.all([
    database.query(`SELECT count(*) FROM items WHERE ${where}`, values, signal),
    database.query(
      `SELECT seq FROM items WHERE ${where} ORDER BY ${ORDERS[sort]} LIMIT ${limit} OFFSET ${offset}`,
      values,
      signal,
    ),
  ]);
  return { total: Number(counted[0]![0]), seqs: page.map(([seq]) => Number(seq)) };
}
