import type { Database, Row } from '../../analysis/database.ts';
import type { ScoreColumns } from '../../analysis/score-columns.ts';
import { COVERAGE_UNITS } from '../../domain/coverage.ts';
import { DECISIONS, type Decision } from '../../domain/outcome.ts';
import { findThresholds, type Policy } from '../../domain/policy.ts';
import { CATEGORY_KEYS, OTHER_CATEGORIES, type CategoryName } from '../../domain/taxonomy.ts';
import type {
  CategoryRow,
  CoverageRow,
  GroupRow,
  GuardRow,
  RateOverTime,
  ScoreSpread,
} from './report-data.ts';

/** Maximum corpora to count separately; a run over a glob or a job file may have thousands. */
const MAX_CORPORA = 99;
/** Maximum categories outside our taxonomy to count separately: a guard may flag any name. */
const MAX_UNKNOWN = 20;
const SCORE_BINS = 50;
const CATEGORY_BINS = 25;
const MAX_RATE_BINS = 150;
/** Widths of time bins, in seconds. */
const WIDTHS = [1, 5, 15, 60, 300, 900, 3600, 10_800, 43_200, 86_400, 604_800, 6_048_000, 60_480_000];
/** Latencies are counted in steps of 10%, from 0.01 ms to about 4 hours. */
const LOWEST_MS = 0.01;
const STEPS = 220;

/** Selects items that were judged, rather than resolved by a reused verdict. */
export const JUDGED_HERE = 'reused_from IS NULL';

type Query = (sql: string) => Promise<readonly Row[]>;

/** The counts of a report, from the view `outcomes`, which has the columns of verdicts.parquet. */
export class OutcomeCounts {
  readonly #query: Query;
  readonly #scored: ScoreColumns;

  constructor(database: Database, scored: ScoreColumns, signal: AbortSignal) {
    this.#query = (sql) => database.query(sql, [], signal);
    this.#scored = scored;
  }

  /** Groups by corpus, in the order of the sources. */
  async corpora(): Promise<GroupRow[]> {
    const rows = await this.#groups(`split_part(path, '/', 1)`, 'min(seq)');
    const named = rows.slice(0, MAX_CORPORA);
    if (rows.length === named.length) return named;
    const others = { name: null, items: 0, allow: 0, review: 0, block: 0, errors: 0, partial: 0 };
    for (const row of rows.slice(MAX_CORPORA)) {
      for (const key of ['items', 'allow', 'review', 'block', 'errors', 'partial'] as const)
        others[key] += row[key];
    }
    return [...named, others];
  }

  /** Groups by modality, the largest first. */
  modalities(): Promise<GroupRow[]> {
    return this.#groups(`coalesce(modality, 'unknown')`, 'count(*) DESC, min(seq)');
  }

  async #groups(name: string, order: string): Promise<GroupRow[]> {
    const decided = DECISIONS.map((decision) => `count(*) FILTER (WHERE decision = '${decision}')`);
    const rows = await this.#query(
      `SELECT ${name}, count(*), ${decided.join(', ')}, count(*) FILTER (WHERE decision IS NULL),
         count(*) FILTER (WHERE coverage_judged < coverage_total)
       FROM outcomes GROUP BY 1 ORDER BY ${order}`,
    );
    return rows.map(([group, ...counts]) => {
      const [items, allow, review, block, errors, partial] = counts.map(Number) as Six;
      return { name: group as string, items, allow, review, block, errors, partial };
    });
  }

  /** In taxonomy order, then categories outside it in order of appearance, then verdicts without a category. */
  async categories(): Promise<CategoryRow[]> {
    const counts = await this.#query(`
      WITH flagged AS (
        SELECT seq, decision, coalesce(subcategory_flags, []) AS flags, ${this.#mainFlag()} AS main FROM outcomes
        WHERE decision IN ('review', 'block') OR (decision = 'allow' AND (flagged OR len(subcategory_flags) > 0))
      ), counted AS (
        SELECT main AS category, decision, 0 AS "any", count(*) AS items, min(seq) AS first FROM flagged GROUP BY ALL
        UNION ALL
        SELECT flag, NULL, 1, count(*), min(seq) FROM (
          SELECT seq, unnest(CASE WHEN len(flags) = 0 THEN [NULL] ELSE list_distinct(flags) END) AS flag FROM flagged
        ) GROUP BY flag
      )
      SELECT category, decision, "any", items FROM counted
      ORDER BY min(first) OVER (PARTITION BY category), category`);
    const rows = new Map<string | null, { -readonly [Key in keyof CategoryRow]: CategoryRow[Key] }>();
    const place = (category: string | null): number => {
      if (category === null) return Infinity;
      const index = CATEGORY_KEYS.findIndex((key) => key === category);
      return index === -1 ? CATEGORY_KEYS.length : index;
    };
    let unknown = 0;
    for (const [found, decision, isAny, items] of counts) {
      let category = found as string | null;
      if (place(category) === CATEGORY_KEYS.length && !rows.has(category)) {
        if (unknown === MAX_UNKNOWN) category = OTHER_CATEGORIES;
        else unknown++;
      }
      let row = rows.get(category);
      if (row === undefined) rows.set(category, (row = { category, block: 0, review: 0, allow: 0, any: 0 }));
      row[isAny === 1 ? 'any' : (decision as Decision)] += Number(items);
    }
    return [...rows.values()].sort((a, b) => place(a.category) - place(b.category));
  }

  /** SQL for the most probable flagged category; categories without a score come last, in the guard's order. */
  #mainFlag(): string {
    const { names, columns } = this.#scored;
    const scores = names.map((name, at) => `WHEN '${name}' THEN ${columns[at]}`).join(' ');
    const each = `list_transform(subcategory_flags, lambda flag: CASE flag ${scores} ELSE -1 END)`;
    return `subcategory_flags[list_position(${each}, list_max(${each}))]`;
  }

  /** Verdicts by score, with the thresholds of the policy. */
  async scores(policy: Policy): Promise<ScoreSpread> {
    const binOf = (column: string, bins: number): string =>
      `least(${bins - 1}, floor(${column} * ${bins}))::INTEGER`;
    const { names } = this.#scored;
    const found = [
      ...(await this.#query(
        `SELECT decision, ${binOf('score', SCORE_BINS)}, count(*) FROM outcomes WHERE decision IS NOT NULL GROUP BY ALL`,
      )),
    ];
    const { inTable } = this.#scored;
    const counts = inTable.map(
      (name) =>
        `map_entries(histogram(${binOf(`"${name}"`, CATEGORY_BINS)}) FILTER (WHERE "${name}" IS NOT NULL))`,
    );
    const [row] = await this.#query(
      `SELECT ${counts.map((each) => `to_json(${each})`).join(', ')} FROM outcomes`,
    );
    inTable.forEach((name, at) => {
      const bins = JSON.parse((row![at] ?? '[]') as string) as readonly { key: number; value: number }[];
      found.push(...bins.map(({ key, value }) => [name, key, value] as const));
    });
    const spread = new Map<string, number[]>();
    const empty = (name: string): number[] =>
      new Array<number>(DECISIONS.some((decision) => decision === name) ? SCORE_BINS : CATEGORY_BINS).fill(0);
    for (const [name, bin, items] of found as unknown as readonly (readonly [string, number, bigint])[]) {
      const bins = spread.get(name) ?? empty(name);
      bins[bin] = Number(items);
      spread.set(name, bins);
    }
    const limits = (levels = policy.thresholds?.default): Pick<ScoreSpread, 'review' | 'block'> => ({
      review: levels?.review ?? null,
      block: levels?.block ?? null,
    });
    const byDecision = DECISIONS.map(
      (decision) => [decision, spread.get(decision) ?? empty(decision)] as const,
    );
    return {
      decisions: Object.fromEntries(byDecision) as unknown as ScoreSpread['decisions'],
      categories: names.flatMap((category: CategoryName) => {
        const bins = spread.get(category);
        return bins === undefined ? [] : [{ category, bins, ...limits(findThresholds(policy, category)) }];
      }),
      ...limits(),
    };
  }

  /** Coverage of the items, by unit. */
  async coverage(): Promise<CoverageRow[]> {
    const rows = await this.#query(
      `SELECT coverage_unit, count(*), count(*) FILTER (WHERE coverage_judged < coverage_total),
         count(coverage_worst_at), sum(coverage_judged), sum(coverage_total)
       FROM outcomes WHERE decision IS NOT NULL AND coverage_unit IS NOT NULL GROUP BY 1`,
    );
    const byUnit = new Map(rows.map(([unit, ...counts]) => [unit as string, counts.map(Number)]));
    return COVERAGE_UNITS.flatMap((unit) => {
      const counts = byUnit.get(unit);
      if (counts === undefined) return [];
      const [items, partial, inParts, judged, total] = counts as [number, number, number, number, number];
      return [{ unit, items, partial, inParts, judged, total }];
    });
  }

  /**
   * Latencies of the verdicts that a guard made in this run, accurate to about a tenth; null for a guard that made
   * none.
   */
  async latencies(): Promise<(endpoint: string, fingerprint: string | null) => GuardRow['latency']> {
    const step = `least(${STEPS - 1}, ceil(ln(greatest(latency_ms, ${LOWEST_MS}) / ${LOWEST_MS}) / ln(1.1)))`;
    const rows = await this.#query(
      `SELECT guard, fingerprint, ${step}::INTEGER AS step, count(*), max(latency_ms) FROM outcomes
       WHERE decision IS NOT NULL AND ${JUDGED_HERE} AND guard IS NOT NULL AND latency_ms IS NOT NULL
       GROUP BY ALL ORDER BY step`,
    );
    const keyOf = (endpoint: unknown, fingerprint: unknown): string =>
      `${String(fingerprint)} ${String(endpoint)}`;
    const guards = new Map<string, { step: number; verdicts: number; max: number }[]>();
    for (const [endpoint, fingerprint, at, verdicts, max] of rows) {
      const key = keyOf(endpoint, fingerprint);
      const steps = guards.get(key) ?? [];
      guards.set(key, steps);
      steps.push({ step: at as number, verdicts: Number(verdicts), max: max as number });
    }
    return (endpoint, fingerprint) => {
      const steps = guards.get(keyOf(endpoint, fingerprint));
      if (steps === undefined) return null;
      const { max } = steps.at(-1)!;
      const all = steps.reduce((sum, { verdicts }) => sum + verdicts, 0);
      const quantile = (share: number): number => {
        let left = Math.ceil(share * all);
        const found = steps.find(({ verdicts }) => (left -= verdicts) <= 0)!;
        return Math.min(max, LOWEST_MS * 1.1 ** found.step);
      };
      return { p50: quantile(0.5), p95: quantile(0.95), max };
    };
  }

  /** Number of items judged by this run over time, in a bounded number of bins; null if it judged none. */
  async rate(): Promise<RateOverTime | null> {
    const second = 'floor(epoch(moderated_at))';
    const [range] = await this.#query(
      `SELECT min(${second}), max(${second}) FROM outcomes WHERE ${JUDGED_HERE}`,
    );
    const [first, last] = range as readonly [number | null, number | null];
    if (first === null || last === null) return null;
    const binOf = (at: number, width: number): number => Math.floor(at / width);
    const fits = (width: number): boolean => binOf(last, width) - binOf(first, width) < MAX_RATE_BINS;
    const seconds = WIDTHS.find(fits) ?? WIDTHS.at(-1)!;
    const from = binOf(first, seconds);
    const bins = Array.from({ length: binOf(last, seconds) - from + 1 }, () => ({
      verdicts: 0,
      flagged: 0,
      errors: 0,
    }));
    const rows = await this.#query(
      `SELECT floor(${second} / ${seconds}) - ${from}, count(decision),
         count(*) FILTER (WHERE decision IN ('review', 'block')), count(*) FILTER (WHERE decision IS NULL)
       FROM outcomes WHERE ${JUDGED_HERE} GROUP BY 1`,
    );
    for (const row of rows) {
      const [bin, verdicts, flagged, errors] = row.map(Number) as [number, number, number, number];
      bins[bin] = { verdicts, flagged, errors };
    }
    return { from: from * seconds * 1000, seconds, bins };
  }
}

type Six = [number, number, number, number, number, number];
