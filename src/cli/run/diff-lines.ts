import { plural } from '../../domain/text/plural.ts';
import { shownName } from '../../domain/text/shown.ts';
import type { DiffPair, DiffResult } from '../../analysis/diff-runs.ts';
import { RESULTS } from '../../analysis/diff-runs.ts';
import type { ScoreShift } from '../../analysis/score-shift.ts';
import { table } from './text-table.ts';

/** Width of the longest bar of the histogram, in characters. */
const BAR_COLUMNS = 40;

/** Characters of a fingerprint that tell models apart. */
const FINGERPRINT_CHARS = 'sha256:'.length + 8;

/** Fingerprints that a screen has room for. */
const MAX_MODELS = 6;

/** The result of a diff for people. */
export function diffLines(result: DiffResult): string[] {
  const { a, b, pairs, results, newly_flagged, cleared, category_moved, errors, top_shifts } = result;
  const rows = RESULTS.map((of) => [of, ...RESULTS.map((to) => number(results[of][to]))]);
  return [
    `A ${shownName(a.run)}: ${count(a.items, 'item')}, ${number(a.only_here)} only here, ${number(a.without_content)} without content`,
    `B ${shownName(b.run)}: ${count(b.items, 'item')}, ${number(b.only_here)} only here, ${number(b.without_content)} without content`,
    `${count(pairs, 'pair')} of equal content:`,
    '',
    ...table([['A \\ B', ...RESULTS], ...rows]),
    '',
    `Flagged by the guard: ${number(newly_flagged)} new, ${number(cleared)} cleared; ` +
      `${number(category_moved.pairs)} with other categories`,
    ...category_moved.by_category.map(
      ({ category, gained, lost }) => `  ${category}: +${number(gained)} -${number(lost)}`,
    ),
    `Errors: ${number(errors.error_to_verdict)} now with a verdict, ${number(errors.verdict_to_error)} new, ` +
      `${number(errors.other_code)} with another code`,
    ...modelLines(result),
    ...shiftLines(result.score_shift),
    ...(top_shifts.length === 0 ? [] : ['Largest shifts:', ...top_shifts.map(pairLine)]),
  ];
}

function modelLines({ by_fingerprint: models }: DiffResult): string[] {
  const of = (id: string | null): string => (id === null ? 'unknown' : id.slice(0, FINGERPRINT_CHARS));
  return [
    ...models
      .slice(0, MAX_MODELS)
      .map(
        ({ a, b, pairs, newly_flagged, cleared, mean_shift }) =>
          `Models ${of(a)} -> ${of(b)}: ${count(pairs, 'pair')}, ${number(newly_flagged)} newly flagged, ` +
          `${number(cleared)} cleared, mean shift ${signed(mean_shift)}`,
      ),
    ...(models.length > MAX_MODELS ? [`  and ${models.length - MAX_MODELS} more`] : []),
  ];
}

function shiftLines({ mean, min, max, quantiles, histogram }: ScoreShift): string[] {
  if (mean === null || min === null || max === null || quantiles === null) return [];
  const most = Math.max(...histogram.map(({ pairs }) => pairs));
  const { p01, p05, p50, p95, p99 } = quantiles;
  return [
    `Score shift (B - A): mean ${signed(mean)}, min ${signed(min)}, 1 % ${signed(p01)}, 5 % ${signed(p05)}, ` +
      `median ${signed(p50)}, 95 % ${signed(p95)}, 99 % ${signed(p99)}, max ${signed(max)}`,
    ...table(
      histogram.map(({ from, to, pairs }) => [
        `  ${signed(from, 2)} to ${signed(to, 2)}`,
        number(pairs),
        '#'.repeat(Math.ceil((pairs / most) * BAR_COLUMNS)).padEnd(BAR_COLUMNS),
      ]),
    ),
  ];
}

function pairLine({ a, b, shift, times }: DiffPair): string {
  const more = times === 1 ? '' : ` (${number(times)} times)`;
  return (
    `  ${signed(shift!)}  ${a.score} -> ${b.score}, ${a.decision} -> ${b.decision}: ` +
    `${shownName(a.id)}${b.id === a.id ? '' : ` -> ${shownName(b.id)}`}${more}`
  );
}

function count(value: number, one: string): string {
  return `${number(value)} ${plural(value, one)}`;
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function signed(value: number, digits = 3): string {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(digits)}`;
}
