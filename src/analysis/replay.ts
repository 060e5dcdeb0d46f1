import { join } from 'node:path';
import { DECISIONS, type Decision } from '../domain/outcome.ts';
import { type Policy, findThresholds } from '../domain/policy.ts';
import { OTHER_CATEGORIES, type CategoryName } from '../domain/taxonomy.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { Database, type Row } from './database.ts';
import type { FinishedVerdicts } from './finished-verdicts.ts';
import { measureLabels, type LabelResult, type Wanted } from './labels/measure-labels.ts';
import type { Label } from './labels/read-labels.ts';
import type { LineFile } from './line-file.ts';
import { ScoreColumns } from './score-columns.ts';
import { judgedVerdicts } from './policy-sql.ts';
import { DECISION_NUMBER, verdictsInTable } from './verdict-columns.ts';
import { decidedBy, floorRules, isFlagged, ownCategories, severityOf, thresholdRules } from './policy-sql.ts';

/** Queue name for items without a category. */
export const WITHOUT_CATEGORY = 'without_category';

/** Maximum changed items listed in a result. */
const MAX_NAMED = 10;

type ByDecision<T> = Readonly<Record<Decision, T>>;

/** An item on which the policies decide differently. */
export interface ChangedItem {
  readonly seq: number;
  readonly id: string;
  readonly path: string;
  readonly row: number | null;
  readonly part: string | null;
  readonly turn: number | null;
  readonly content_sha256: string | null;
  readonly before: Decision;
  readonly after: Decision;
  readonly decided_by: string | null;
}

/** Result of applying another policy to the scores of a run. */
export interface ReplayResult {
  readonly run: string;
  readonly items: number;
  readonly verdicts: number;
  /** Items without a verdict, on which a policy cannot decide. */
  readonly errors: number;
  readonly policy: Policy;
  /** Verdicts by the run's decision, then by the decision of the policy. */
  readonly decisions: ByDecision<ByDecision<number>>;
  readonly review_queue: { readonly before: number; readonly after: number };
  readonly by_category: readonly {
    readonly category: string;
    readonly before: number;
    readonly after: number;
  }[];
  readonly changed: { readonly items: number; readonly first: readonly ChangedItem[] };
  /** Verdicts without a score for a category that has its own threshold, which is not applied to them. */
  readonly without_score: Readonly<Partial<Record<CategoryName, number>>>;
  /** Null without labels. */
  readonly labels: LabelResult | null;
}

export interface ReplayOptions {
  readonly policy: Policy;
  /** Null to compare with no labels. */
  readonly labels: readonly Label[] | null;
  readonly wanted: Wanted;
  /** Receives every changed item; if null, they are only counted. */
  readonly out: LineFile | null;
  readonly signal: AbortSignal;
}

/**
 * Decides again on the verdicts of a finished run, from the recorded scores. Failure('internal') for a file with lines
 * that are not outcomes.
 */
export function replay(run: FinishedVerdicts, options: ReplayOptions): Promise<ReplayResult> {
  return Database.temporary(async (database) => {
    const { policy, labels, wanted, out, signal } = options;
    const table = join(run.dir, RUN_FILES.verdictsParquet);
    const before = run.record.config.policy;
    const scored = await ScoreColumns.of(database, table, [before, policy], signal);
    await database.load(outcomesView(policy, scored, table), [], signal);
    const counted = await counts(database, { before, after: policy, scored }, signal);
    const { items, verdicts, decisions, changed } = counted;
    const sum = (of: (each: Decision) => number): number =>
      DECISIONS.reduce((all, each) => all + of(each), 0);
    return {
      ...{ run: run.record.run, items, verdicts, errors: items - verdicts, policy, decisions },
      review_queue: {
        before: sum((after) => decisions.review[after]),
        after: sum((before) => decisions[before].review),
      },
      by_category: counted.byCategory,
      changed: {
        items: changed,
        first: changed === 0 ? [] : await changedItems(database, out, signal),
      },
      without_score: counted.withoutScore,
      labels: labels === null ? null : await measureLabels(database, { labels, scored }, wanted, signal),
    };
  });
}

/** The outcomes with both decisions: `before` from the run, and `after` from the policy, with its `rule`. */
function outcomesView(policy: Policy, scored: ScoreColumns, table: string): string {
  const rules = [...thresholdRules(policy, scored), ...floorRules(policy)];
  return `
    CREATE VIEW outcomes AS
    SELECT seq, id, path, "row", part, turn, content_sha256, score, ${scored.columns.join(', ')}, subcategory_flags, known, unknown,
      ${DECISION_NUMBER} AS before, CASE WHEN before >= 0 THEN ${severityOf(rules)} END AS after, ${decidedBy(rules)} AS rule
    FROM ${judgedVerdicts(verdictsInTable(table), scored)}`;
}

/** Counts from one query that decides on each verdict once. */
interface Counted {
  items: number;
  verdicts: number;
  readonly decisions: ByDecision<Record<Decision, number>>;
  changed: number;
  readonly byCategory: ReplayResult['by_category'];
  readonly withoutScore: ReplayResult['without_score'];
}

async function counts(
  database: Database,
  { before, after, scored }: { before: Policy; after: Policy; scored: ScoreColumns },
  signal: AbortSignal,
): Promise<Counted> {
  const own = ownCategories(after, scored);
  /** Names of the review queues in which an item can count. */
  const queues = [...scored.names, OTHER_CATEGORIES, WITHOUT_CATEGORY];
  const conditions = [
    ...queueConditions(before, scored).map((condition) => `before = 1 AND ${condition}`),
    ...queueConditions(after, scored).map((condition) => `after = 1 AND ${condition}`),
    ...own.map((key) => `${scored.columnOf(key)} < 0`),
  ];
  const rows = await database.query(
    `SELECT before, coalesce(after, -1), count(*),
       ${conditions.map((condition) => `count(*) FILTER (WHERE ${condition})`).join(', ')}
     FROM outcomes GROUP BY ALL`,
    [],
    signal,
  );
  const none = (): Record<Decision, number> => ({ allow: 0, review: 0, block: 0 });
  const counted = { items: 0, verdicts: 0, changed: 0 };
  const decisions = { allow: none(), review: none(), block: none() };
  const sums = conditions.map(() => 0);
  for (const row of rows) {
    const [from, to, items, ...found] = row.map(Number) as [number, number, number, ...number[]];
    counted.items += items;
    if (from < 0) continue;
    counted.verdicts += items;
    decisions[DECISIONS[from]!][DECISIONS[to]!] += items;
    if (from !== to) counted.changed += items;
    found.forEach((each, index) => (sums[index]! += each));
  }
  const byCategory = queues.map((category, index) => {
    return { category, before: sums[index]!, after: sums[queues.length + index]! };
  });
  const missing = own.map((key, index) => [key, sums[2 * queues.length + index]!] as const);
  return {
    ...{ ...counted, decisions, byCategory: byCategory.filter((each) => each.before + each.after > 0) },
    withoutScore: Object.fromEntries(missing.filter(([, items]) => items > 0)),
  };
}

/**
 * Conditions for whether an item counts in each category, in other categories, and in none. An item counts in each
 * category that the guard flagged or whose score reaches a threshold of the policy, so it may count several times.
 */
function queueConditions(policy: Policy, scored: ScoreColumns): string[] {
  const categories = scored.names.map((name) => {
    const { review, block } = findThresholds(policy, name) ?? {};
    const lowest = review ?? block;
    if (lowest === undefined) return isFlagged(name);
    return `(${isFlagged(name)} OR ${scored.columnOf(name)} >= ${lowest}::DOUBLE)`;
  });
  const any = [...categories, 'unknown'];
  return [...any, `NOT (${any.join(' OR ')})`];
}

/** Returns the first items on which the policies differ; writes all of them to `out`. */
async function changedItems(
  database: Database,
  out: LineFile | null,
  signal: AbortSignal,
): Promise<ChangedItem[]> {
  const first: ChangedItem[] = [];
  const rows = database.stream(
    `SELECT seq::DOUBLE, id, path, "row"::DOUBLE, part, turn::DOUBLE, content_sha256, before, after, rule
     FROM outcomes WHERE before <> after ORDER BY seq ${out === null ? `LIMIT ${MAX_NAMED}` : ''}`,
    [],
    signal,
  );
  for await (const batch of rows) {
    const changed = batch.map(changedItem);
    first.push(...changed.slice(0, MAX_NAMED - first.length));
    await out?.write(changed.map((item) => `${JSON.stringify(item)}\n`));
  }
  return first;
}

function changedItem([seq, id, path, row, part, turn, content, before, after, rule]: Row): ChangedItem {
  return {
    ...{ seq: seq as number, id: id as string, path: path as string, row: row as number | null },
    ...{ part: part as string | null, turn: turn as number | null, content_sha256: content as string | null },
    ...{ before: DECISIONS[Number(before)]!, after: DECISIONS[Number(after)]! },
    decided_by: rule as string | null,
  };
}
