import { type DiffPair, type DiffResult, RESULTS } from '../../analysis/diff-runs.ts';
import type { AtThreshold, LabelResult, ScoreResult } from '../../analysis/labels/measure-labels.ts';
import type { ReplayResult } from '../../analysis/replay.ts';
import { DECISIONS } from '../../domain/outcome.ts';
import { plural } from '../../domain/text/plural.ts';
import { quoteName } from '../../domain/text/escape-text.ts';
import { table } from './table.ts';

/** Maximum changes shown on a screen. */
const MAX_CHANGES = 12;

/** Formats the result of a diff as text. */
export function diffLines({ a, b, pairs, decisions, score_shift, largest }: DiffResult): string[] {
  const side = ({ run, items, only_here, without_content }: DiffResult['a']): string =>
    `${quoteName(run)}: ${count(items, 'item')}, ${number(only_here)} only here, ${number(without_content)} without content`;
  const rows = RESULTS.map((of) => [of, ...RESULTS.map((to) => number(decisions[of][to]))]);
  const shifts = score_shift.map(({ score, pairs, mean, min, max }) => [
    ...[`  ${score}`, number(pairs), ...[mean, min, max].map((shift) => signedDecimal(shift))],
  ]);
  return [
    `A ${side(a)}`,
    `B ${side(b)}`,
    `${count(pairs, 'pair')} of equal content:`,
    '',
    ...table([['A \\ B', ...RESULTS], ...rows]),
    '',
    ...(shifts.length === 0
      ? []
      : ['Score shift (B - A):', ...table([['  score', 'pairs', 'mean', 'min', 'max'], ...shifts])]),
    ...(largest.length === 0 ? [] : ['Largest changes:', ...largest.slice(0, MAX_CHANGES).map(pairLine)]),
  ];
}

function pairLine({ a, b, shift }: DiffPair): string {
  const of = ({ decision, score, error }: DiffPair['a']): string => error ?? `${decision} ${score}`;
  const ids = `${quoteName(a.id)}${b.id === a.id ? '' : ` -> ${quoteName(b.id)}`}`;
  return `  ${ids}: ${of(a)} -> ${of(b)}${shift === null ? '' : ` (${signedDecimal(shift)})`}`;
}

function signedDecimal(value: number, digits = 3): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(digits)}`;
}

/** Thresholds of the curve that are shown; a screen has no room for all. */
const SHOWN = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** Formats the result of a replay as text. */
export function replayLines(result: ReplayResult): string[] {
  const { run, verdicts, errors, decisions, changed, labels } = result;
  const matrix = DECISIONS.map((before) => [
    before,
    ...DECISIONS.map((after) => number(decisions[before][after])),
  ]);
  return [
    `${quoteName(run)}: ${count(verdicts, 'verdict')}, ${count(errors, 'error')}`,
    '',
    ...table([['before \\ after', ...DECISIONS], ...matrix]),
    '',
    ...queueLines(result),
    ...withoutScoreLines(result),
    `Other decision: ${count(changed.items, 'item')}`,
    ...changed.first.map(
      ({ seq, id, before, after, decided_by }) =>
        `  ${seq} ${quoteName(id)}: ${before} -> ${after}${decided_by === null ? '' : ` (${decided_by})`}`,
    ),
    ...(changed.items > changed.first.length
      ? [`  and ${number(changed.items - changed.first.length)} more`]
      : []),
    ...(labels === null ? [] : labelLines(labels)),
  ];
}

function queueLines({ review_queue: { before, after }, by_category }: ReplayResult): string[] {
  const rows = by_category.map((each) => [
    `  ${each.category}`,
    number(each.before),
    number(each.after),
    signedCount(each.after - each.before),
  ]);
  return [
    `Review queue: ${number(before)} -> ${number(after)} (${signedCount(after - before)})`,
    ...(rows.length === 0 ? [] : table([['  category', 'before', 'after', 'change'], ...rows])),
  ];
}

function withoutScoreLines({ without_score, verdicts }: ReplayResult): string[] {
  const missing = Object.entries(without_score);
  if (missing.length === 0) return [];
  return [
    'Not applied: the policy has thresholds for categories that the guard did not score. A guard scores the categories of',
    'what it flags only, and no score is not zero. A run with this policy would not apply these thresholds either.',
    ...missing.map(
      ([key, items = 0]) => `  ${key}: no score in ${number(items)} of ${count(verdicts, 'verdict')}`,
    ),
  ];
}

function labelLines(result: LabelResult): string[] {
  const { labels, unmatched, contradictions, without_verdict, scores } = result;
  return [
    '',
    `Labels: ${number(labels)}; ${number(unmatched)} of no item of the run, ${number(contradictions)} contradicting others, ` +
      `${count(without_verdict, 'labelled item')} without a verdict`,
    ...scores.flatMap((each) => scoreLines(each, result)),
  ];
}

function scoreLines(result: ScoreResult, { minimums }: LabelResult): string[] {
  const { score, labelled, without_score, curve, best_f1, wanted } = result;
  const unknown = without_score.true + without_score.false;
  const { precision, recall } = minimums;
  const asked = [
    ...(precision === null ? [] : [`precision of at least ${precision}`]),
    ...(recall === null ? [] : [`recall of at least ${recall}`]),
  ].join(' and a ');
  return [
    '',
    `${score}: ${number(labelled.true)} labelled true, ${number(labelled.false)} false` +
      (unknown === 0 ? '' : `; ${number(unknown)} of these without a score, which no threshold finds`),
    ...table([
      ['  threshold', 'precision', 'recall', 'F1'],
      ...curve.filter(({ threshold }) => SHOWN.includes(threshold)).map(measures),
    ]),
    ...(best_f1 === null ? [] : [`Best F1: ${measured(best_f1)}`]),
    ...(asked === '' ? [] : [`With a ${asked}: ${wanted === null ? 'no threshold' : measured(wanted)}`]),
  ];
}

function measures({ threshold, precision, recall, f1 }: AtThreshold): string[] {
  return [`  ${threshold.toFixed(2)}`, fixed(precision), fixed(recall), fixed(f1)];
}

function measured({ threshold, precision, recall, f1 }: AtThreshold): string {
  return `threshold ${threshold}: precision ${fixed(precision)}, recall ${fixed(recall)}, F1 ${fixed(f1)}`;
}

function fixed(value: number | null): string {
  return value === null ? '-' : value.toFixed(3);
}

function count(value: number, one: string): string {
  return `${number(value)} ${plural(value, one)}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function signedCount(value: number): string {
  return value > 0 ? `+${number(value)}` : number(value);
}
