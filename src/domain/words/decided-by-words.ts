import { CATEGORIES, isForeignCategory } from '../taxonomy.ts';

/** Labels of the scores that rules compare. */
export const RULE_LABELS: ReadonlyMap<string, string> = new Map([
  ['score', 'Overall'],
  ...CATEGORIES.map(({ key, label }) => [key, label] as const),
]);

/** Wording of rules that name neither a score nor a category. */
export const RULES_IN_WORDS: ReadonlyMap<string, string> = new Map([
  ['flagged', 'Flagged by the guard'],
  ['unknown category flagged', 'Flagged by the guard for a category outside the taxonomy'],
  ['partial coverage', 'Judged only in part'],
  ['needs_caution', 'The guard asked for caution'],
]);

/** The label if no rule applied. */
export const NO_RULE = 'No rule applied';

const THRESHOLD = /^([a-z0-9_/-]+)>=(.+)$/;
const FLAGGED = /^([a-z0-9_/-]+) flagged$/;

/**
 * Describes the rule behind a decision (`decided_by`) in words: `hate>=0.4` becomes "Hate score at or above 0.4", and a
 * category of another taxonomy keeps its own name. Null, if no rule applied, becomes "No rule applied". A rule that
 * `decide` does not produce is returned unchanged, since a record from elsewhere can contain any text.
 */
export function describeRule(rule: string | null): string {
  if (rule === null) return NO_RULE;
  const other = RULES_IN_WORDS.get(rule);
  if (other !== undefined) return other;
  const [, scored = '', limit = ''] = THRESHOLD.exec(rule) ?? [];
  const score = labelOf(scored);
  if (score !== null) return `${score} score at or above ${limit}`;
  const [, flagged = ''] = FLAGGED.exec(rule) ?? [];
  const category = flagged === 'score' ? null : labelOf(flagged);
  return category === null ? rule : `Flagged by the guard for ${category}`;
}

function labelOf(name: string): string | null {
  return RULE_LABELS.get(name) ?? (isForeignCategory(name) ? name : null);
}
