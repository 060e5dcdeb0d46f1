import type { Database } from '../../analysis/database.ts';

/** Files of which nothing was judged. */
export interface UnjudgedFiles {
  readonly files: number;
  readonly items: number;
  /** Those with the most items: the first item of each, and how many it has. */
  readonly first: readonly { readonly seq: number; readonly items: number }[];
}

/** `limit`: how many are named. */
export async function queryUnjudged(
  database: Database,
  limit: number,
  signal: AbortSignal,
): Promise<UnjudgedFiles> {
  const rows = await database.query(
    `WITH unjudged AS (
       SELECT min(seq) AS seq, count(*) AS items FROM items GROUP BY path HAVING max(decision) < 0
     )
     SELECT seq::DOUBLE, items::DOUBLE, count(*) OVER ()::DOUBLE, (sum(items) OVER ())::DOUBLE
     FROM unjudged ORDER BY items DESC, seq LIMIT ${limit}`,
    [],
    signal,
  );
  return {
    files: Number(rows[0]?.[2] ?? 0),
    items: Number(rows[0]?.[3] ?? 0),
    first: rows.map(([seq, items]) => ({ seq: Number(seq), items: Number(items) })),
  };
}
