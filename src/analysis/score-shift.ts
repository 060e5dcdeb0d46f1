/** Quantiles are of shifts to this precision. */
const STEPS_PER_UNIT = 1000;

const QUANTILES = { p01: 0.01, p05: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95, p99: 0.99 } as const;

/** Where the histogram is cut: finer around 0, where most shifts are. */
const EDGES = [-1, -0.5, -0.2, -0.1, -0.05, -0.01, 0.01, 0.05, 0.1, 0.2, 0.5, 1] as const;

/** How scores moved from one run to the other. */
export interface ScoreShift {
  /** Pairs with a verdict in both runs. */
  readonly pairs: number;
  /** Null without pairs, like all that follows. */
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  /** By nearest rank, to 0.001. */
  readonly quantiles: Readonly<Record<keyof typeof QUANTILES, number>> | null;
  /** Shifts from `from` up to `to`; of the last one including it. */
  readonly histogram: readonly { readonly from: number; readonly to: number; readonly pairs: number }[];
}

/** How the column `shift` of the table `compared` is spread. */
export async function scoreShift(query: (sql: string) => Promise<number[][]>): Promise<ScoreShift> {
  const bins = EDGES.slice(1).map((to, index) => {
    const below = to === 1 ? '' : `AND shift < ${to}`;
    return { from: EDGES[index]!, to, count: `count(*) FILTER (WHERE shift >= ${EDGES[index]!} ${below})` };
  });
  const [row] = await query(
    `SELECT count(shift), avg(shift), min(shift), max(shift), ${bins.map(({ count }) => count).join(', ')} FROM compared`,
  );
  const [pairs, mean, min, max, ...counts] = row as [number, number, number, number, ...number[]];
  const isEmpty = pairs === 0;
  return {
    ...{ pairs, mean: isEmpty ? null : mean, min: isEmpty ? null : min, max: isEmpty ? null : max },
    quantiles: isEmpty ? null : await quantilesOf(query, pairs),
    histogram: bins.map(({ from, to }, index) => ({ from, to, pairs: counts[index]! })),
  };
}

async function quantilesOf(
  query: (sql: string) => Promise<number[][]>,
  pairs: number,
): Promise<NonNullable<ScoreShift['quantiles']>> {
  const steps = await query(
    `SELECT floor(shift * ${STEPS_PER_UNIT} + 0.5) AS step, count(*) FROM compared WHERE shift IS NOT NULL
     GROUP BY step ORDER BY step`,
  );
  const at = (share: number): number => {
    let left = Math.ceil(share * pairs);
    return steps.find(([, count]) => (left -= count!) <= 0)![0]! / STEPS_PER_UNIT;
  };
  const { p01, p05, p25, p50, p75, p95, p99 } = QUANTILES;
  return {
    ...{ p01: at(p01), p05: at(p05), p25: at(p25), p50: at(p50) },
    ...{ p75: at(p75), p95: at(p95), p99: at(p99) },
  };
}
