import type { Item } from '../../domain/item.ts';
import { DECISIONS, type Decision, type OutcomeLine } from '../../domain/outcome.ts';
import { unjudged } from './reasons.ts';

/** The moderation of one item. */
interface ItemModeration {
  readonly id: string;
  readonly part: string | null;
  readonly turn: number | null;
  readonly decision: Decision | null;
  readonly score: number | null;
  readonly categories: readonly string[] | null;
  readonly decided_by: string | null;
  /** The code of its error; `NOT_JUDGED` for an item without an outcome. */
  readonly error: string | null;
}

/** The annotation of a row. */
export interface RowModeration extends Omit<ItemModeration, 'id' | 'part' | 'turn'> {
  /** Only for a row with several items. */
  readonly items?: readonly ItemModeration[];
}

/**
 * Combines the moderation of a row: the severest decision on its items and its rule, the highest score, and all
 * categories. The decision is null if an item was not judged and no other is worse than `allow`.
 */
export function moderationOf(items: readonly Item[], lines: readonly OutcomeLine[]): RowModeration {
  const missing = unjudged(items, lines);
  if (lines.length === 1 && missing.length === 0) {
    const { decision, score, subcategory_flags: categories, decided_by, error } = lines[0]!;
    return { decision, score, categories, decided_by, error: error?.code ?? null };
  }
  const all = [...lines.map(ofLine), ...missing.map(notJudged)];
  if (all.length === 0) all.push(notJudged({ id: '', part: null, turn: null }));
  const worst = all.reduce((one, other) => (severity(other) > severity(one) ? other : one));
  const scores = all.flatMap(({ score }) => score ?? []);
  const categories = new Set(all.flatMap((item) => item.categories ?? []));
  return {
    decision: worst.decision,
    score: scores.length === 0 ? null : Math.max(...scores),
    categories: all.every((item) => item.categories === null) ? null : [...categories],
    decided_by: worst.decided_by,
    error: all.find(({ error }) => error !== null)?.error ?? null,
    ...(all.length > 1 && { items: all }),
  };
}

function ofLine(line: OutcomeLine): ItemModeration {
  const { id, part, turn, decision, score, subcategory_flags: categories, decided_by, error } = line;
  return { id, part, turn, decision, score, categories, decided_by, error: error?.code ?? null };
}

function notJudged({ id, part, turn }: Pick<Item, 'id' | 'part' | 'turn'>): ItemModeration {
  const nothing = { decision: null, score: null, categories: null, decided_by: null };
  return { id, part, turn, ...nothing, error: 'NOT_JUDGED' };
}

/** Severity of a decision: an unknown decision is worse than `allow`, and better than the others. */
function severity({ decision }: ItemModeration): number {
  return decision === null ? 0.5 : DECISIONS.indexOf(decision);
}
