import { type Figure, isReached } from './figures.ts';

/** The result of one bench: figures, or why it failed. */
export interface BenchReport {
  readonly bench: string;
  readonly figures: readonly Figure[];
  /** The failure in one line; null if it succeeded. */
  readonly failure: string | null;
}

const HEADINGS = ['bench', 'figure', 'measured', 'between', 'reach', 'reached'] as const;

/** Formats the figures as a table, one string per line. */
export function benchTable(reports: readonly BenchReport[]): string[] {
  const rows: (readonly string[])[] = [HEADINGS];
  for (const { bench, figures, failure } of reports) {
    for (const one of figures) rows.push([bench, one.name, ...cells(one)]);
    if (failure !== null) rows.push([bench, `failed: ${failure}`]);
  }
  return columns(rows);
}

/** Aligns the cells of rows; a row with fewer cells than the first one, the headings, does not widen a column. */
export function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) =>
    Math.max(...rows.filter((row) => row.length === rows[0]!.length).map((row) => row[column]!.length)),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column]!)).join('  '))
    .map((line) => line.trimEnd());
}

function cells(one: Figure): string[] {
  const reached = isReached(one);
  return [
    withUnit(one.measured, one.unit),
    one.rounds > 1 ? `${short(one.lowest)} – ${short(one.highest)}` : '',
    one.reach === null ? '' : reachText(one),
    reached === null ? '' : reached ? 'yes' : 'no',
  ];
}

function reachText({ reach, unit }: Figure): string {
  if (reach === null) return '';
  return 'atLeast' in reach ? `≥ ${withUnit(reach.atLeast, unit)}` : `≤ ${withUnit(reach.atMost, unit)}`;
}

/** Formats a value with three significant digits, and its unit if there is one. */
export function withUnit(value: number, unit: string): string {
  return unit === '' ? short(value) : `${short(value)} ${unit}`;
}

/** Formats a value with three significant digits and without an exponent. */
function short(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(3)));
}
