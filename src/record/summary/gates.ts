import type { z } from 'zod';
import type { Gates } from '../../config/run-config.ts';
import { CATEGORY_KEYS, listForeignCategories, isCategoryName } from '../../domain/taxonomy.ts';
import { plural } from '../../domain/text/plural.ts';
import type { Counts } from '../counts.ts';
import type { GATE, Immutable } from './summary-schema.ts';

/** A gate of `failIf` with the run's result. */
export type GateResult = Immutable<z.infer<typeof GATE>>;

interface Share {
  readonly part: number;
  readonly unknown?: number;
  readonly whole: number;
}

/**
 * Compares the gates of a run with its counts. A gate trips above its limit, not at it. Unknown values never let a gate
 * pass: items flagged without a score for a category count for the gate of that category, and a gate over the verdicts
 * trips if there are items but none has a verdict. A run without items trips no gate.
 */
export function gateResults(gates: Gates, counts: Counts): readonly GateResult[] {
  const { items, verdicts, errors, by_decision, by_category, category_unknown } = counts;
  const { guard_flagged, foreign_measured = {} } = counts;
  const results: GateResult[] = [];
  const add = (gate: string, limit: number | null | undefined, { part, unknown = 0, whole }: Share): void => {
    if (limit === null || limit === undefined) return;
    const value = whole === 0 ? null : part / whole;
    const tripped = value === null ? items > 0 : value > limit;
    results.push({ gate, limit, value, part, unknown, whole, tripped });
  };
  add('flaggedRate', gates.flaggedRate, { part: counts.flagged, whole: verdicts });
  add('blockedRate', gates.blockedRate, { part: by_decision.block, whole: verdicts });
  for (const key of CATEGORY_KEYS) {
    const unknown = category_unknown[key] ?? 0;
    add(key, gates.categories[key], { part: (by_category[key] ?? 0) + unknown, unknown, whole: verdicts });
  }
  for (const name of listForeignCategories(gates.categories)) {
    const unknown = guard_flagged - (foreign_measured[name] ?? 0);
    add(name, gates.categories[name], { part: (by_category[name] ?? 0) + unknown, unknown, whole: verdicts });
  }
  add('errorRate', gates.errorRate, { part: errors, whole: items });
  add('uncoveredRate', gates.uncoveredRate, { part: errors + counts.partial, whole: items });
  return results;
}

/** Formats the result of a gate as a line: `flaggedRate tripped: 0.0213 is above 0.01 (213 of 10,000 verdicts)`. */
export function gateText({ gate, limit, value, part, unknown, whole, tripped }: GateResult): string {
  const what = gate === 'errorRate' || gate === 'uncoveredRate' ? 'item' : 'verdict';
  const of = `${number(part)} of ${number(whole)} ${plural(whole, what)}`;
  const without = unknown === 0 ? '' : `; ${number(unknown)} flagged without a score for the category`;
  const name = isCategoryName(gate) ? `category ${gate}` : gate;
  if (value === null)
    return tripped ? `${name} tripped: no item has a verdict` : `${name} passed: there are no items`;
  const rounded = Number(value.toPrecision(3));
  const shown = rounded > limit === tripped ? rounded : value;
  return tripped
    ? `${name} tripped: ${shown} is above ${limit} (${of}${without})`
    : `${name} passed: ${shown} is not above ${limit} (${of}${without})`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}
