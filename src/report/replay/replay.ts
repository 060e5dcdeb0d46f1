import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { CATEGORY_KEYS, OTHER_CATEGORIES, type CategoryKey } from '../../domain/taxonomy.ts';
import { placedLines, type FinishedVerdicts } from '../finished-verdicts.ts';
import type { LineFile } from '../line-file.ts';
import { decisionRange, ownCategories } from './decision-range.ts';
import type { Labels } from './labels.ts';
import { LabelledScores, type LabelResult, type Wanted } from './labelled-scores.ts';
import { QueueTally, WITHOUT_CATEGORY } from './queue-tally.ts';

/** Changed items that a result names. */
const MAX_NAMED = 10;

type ByDecision<T> = Readonly<Record<Decision, T>>;

/** A number that depends on scores that are missing: `decided` as a run counts, which does not apply thresholds to them. */
interface Range {
  readonly decided: number;
  readonly min: number;
  readonly max: number;
}

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

/** What another policy makes of the scores of a run. */
export interface ReplayResult {
  readonly run: string;
  readonly items: number;
  readonly verdicts: number;
  /** Items without a verdict, about which no policy decides. */
  readonly errors: number;
  readonly policy: Policy;
  /** Verdicts by the run's decision, then by the decision of the policy. */
  readonly decisions: ByDecision<ByDecision<number>>;
  readonly review_queue: { readonly before: number; readonly after: Range };
  readonly by_category: readonly {
    readonly category: string;
    readonly before: number;
    readonly after: number;
  }[];
  readonly changed: { readonly items: number; readonly first: readonly ChangedItem[] };
  readonly unknown: {
    /** Verdicts on which the policy could decide more severely, if a score that is missing were high. */
    readonly verdicts: number;
    /** Of these, those that could be this decision. */
    readonly by_decision: Readonly<Record<'review' | 'block', number>>;
    /** Verdicts without a score for a category with a threshold of its own. */
    readonly without_score: Readonly<Partial<Record<CategoryKey, number>>>;
  };
  /** Null without labels. */
  readonly labels: LabelResult | null;
}

export interface ReplayOptions {
  readonly policy: Policy;
  /** Null: nothing is compared with labels. */
  readonly labels: Labels | null;
  readonly wanted: Wanted;
  /** Takes every changed item; null: they are only counted. */
  readonly out: LineFile | null;
  readonly signal: AbortSignal;
}

/** Decides again on the verdicts of a finished run, from the recorded scores. One pass over verdicts.jsonl. */
export async function replay(run: FinishedVerdicts, options: ReplayOptions): Promise<ReplayResult> {
  const { policy, labels, wanted, out, signal } = options;
  const own = ownCategories(policy);
  const counts = emptyMatrix();
  const queues = { before: new QueueTally(run.record.config.policy), after: new QueueTally(policy) };
  const unknown = { verdicts: 0, review: 0, block: 0, leaving: 0 };
  const withoutScore = new Map<CategoryKey, number>();
  const first: ChangedItem[] = [];
  const scores = labels === null ? null : new LabelledScores(labels);
  let items = 0;
  let errors = 0;
  let changed = 0;
  for await (const batch of placedLines(run, signal)) {
    const texts: string[] = [];
    for (const { line } of batch) {
      items++;
      scores?.add(line);
      const range = decisionRange(policy, own, line);
      if (range === null || line.decision === null) {
        errors++;
        continue;
      }
      const { decided, severest, missing } = range;
      counts[line.decision][decided.decision]++;
      if (line.decision === 'review') queues.before.add(line);
      if (decided.decision === 'review') queues.after.add(line);
      for (const key of missing) withoutScore.set(key, (withoutScore.get(key) ?? 0) + 1);
      if (severest !== decided.decision) {
        unknown.verdicts++;
        if (severest === 'block') unknown.block++;
        if (decided.decision === 'review') unknown.leaving++;
        else if (mayBeReviewed(policy, missing)) unknown.review++;
      }
      if (decided.decision === line.decision) continue;
      changed++;
      if (first.length >= MAX_NAMED && out === null) continue;
      const item = changedItem(line, decided.decision, decided.decidedBy);
      if (first.length < MAX_NAMED) first.push(item);
      if (out !== null) texts.push(`${JSON.stringify(item)}\n`);
    }
    await out?.write(texts);
  }
  const queue = (of: 'before' | 'after'): number =>
    DECISIONS.reduce((sum, each) => sum + (of === 'before' ? counts.review[each] : counts[each].review), 0);
  const after = queue('after');
  const categories = [...CATEGORY_KEYS, OTHER_CATEGORIES, WITHOUT_CATEGORY];
  return {
    run: run.record.run,
    items,
    verdicts: items - errors,
    errors,
    policy,
    decisions: counts,
    review_queue: {
      before: queue('before'),
      after: { decided: after, min: after - unknown.leaving, max: after + unknown.review },
    },
    by_category: categories
      .map((category) => ({
        category,
        before: queues.before.of(category),
        after: queues.after.of(category),
      }))
      .filter((each) => each.before + each.after > 0),
    changed: { items: changed, first },
    unknown: {
      verdicts: unknown.verdicts,
      by_decision: { review: unknown.review, block: unknown.block },
      without_score: Object.fromEntries(withoutScore),
    },
    labels: scores?.result(wanted) ?? null,
  };
}

/** Whether some score of the categories would be a review and not a block. */
function mayBeReviewed({ thresholds }: Policy, missing: readonly CategoryKey[]): boolean {
  return missing.some((key) => {
    const { review, block = Infinity } = thresholds?.[key] ?? {};
    return review !== undefined && review < block;
  });
}

function emptyMatrix(): Record<Decision, Record<Decision, number>> {
  const row = (): Record<Decision, number> => ({ allow: 0, review: 0, block: 0 });
  return { allow: row(), review: row(), block: row() };
}

function changedItem(line: OutcomeLine, after: Decision, decidedBy: string | null): ChangedItem {
  const { seq, id, source, part = null, turn = null, content_sha256, decision } = line;
  const { path, row } = source;
  return { seq, id, path, row, part, turn, content_sha256, before: decision!, after, decided_by: decidedBy };
}
