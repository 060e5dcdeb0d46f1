import { sayingOf, type Outcome } from './outcome-entry.ts';

/** Items of one content: one of run A with one of run B, `times` over. */
export interface Pair {
  readonly a: Outcome;
  readonly b: Outcome;
  readonly times: number;
}

/**
 * Pairs the items of one content, each with at most one of the other run: first those with the same outcome, then those
 * with the same decision, then the rest. `left` of an outcome becomes the items without a partner. Linear time.
 */
export function pairOutcomes(as: readonly Outcome[], bs: readonly Outcome[]): Pair[] {
  const pairs: Pair[] = [];
  pairAlike(as, bs, sayingOf, pairs);
  pairAlike(as, bs, ({ result }) => result, pairs);
  pairAlike(as, bs, () => '', pairs);
  return pairs;
}

/** Pairs outcomes of the same group, in order. */
function pairAlike(
  as: readonly Outcome[],
  bs: readonly Outcome[],
  groupOf: (outcome: Outcome) => string,
  pairs: Pair[],
): void {
  const groups = new Map<string, { readonly members: Outcome[]; next: number }>();
  for (const b of bs) {
    if (b.left === 0) continue;
    const group = groups.get(groupOf(b));
    if (group === undefined) groups.set(groupOf(b), { members: [b], next: 0 });
    else group.members.push(b);
  }
  for (const a of as) {
    const group = a.left === 0 ? undefined : groups.get(groupOf(a));
    if (group === undefined) continue;
    while (a.left > 0 && group.next < group.members.length) {
      const b = group.members[group.next]!;
      const times = Math.min(a.left, b.left);
      a.left -= times;
      b.left -= times;
      pairs.push({ a, b, times });
      if (b.left === 0) group.next++;
    }
  }
}
