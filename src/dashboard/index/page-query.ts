import type { z } from 'zod';
import type { ITEM_QUERY } from '../api/items.ts';
import { allOf, conditionsOf } from './conditions.ts';
import { REVIEW_NUMBERS } from './items-table.ts';
import type { Database } from '../../analysis/database.ts';

type PageQuery = z.output<typeof ITEM_QUERY>;

const ORDERS: Readonly<Record<PageQuery['sort'], string>> = {
  open: `review <> ${REVIEW_NUMBERS.open}, decision DESC, score DESC NULLS LAST, seq`,
  severity: 'decision DESC, score DESC NULLS LAST, seq',
  uncertainty: 'abs(score - 0.5) NULLS LAST, seq',
  score_up: 'score NULLS LAST, seq',
  latency: 'latency_ms DESC NULLS LAST, seq',
  corpus: 'seq',
};

/** The items of a page, in its order, and how many pass the filter. */
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
