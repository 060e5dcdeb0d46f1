import type { OutcomeLine, StreamLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';
import type { Cell } from './csv.ts';

const COLUMNS = [
  'seq',
  'path',
  'row',
  'line',
  'id',
  'part',
  'turn',
  'decision',
  'decided_by',
  'score',
  ...CATEGORY_KEYS,
  'coverage',
  'guard',
  'fingerprint',
  'error_code',
  'error_message',
  'moderated_at_utc',
] as const;

/** Behind the others, in runs that replay generations only: the column, then what a row has in it. */
export const STREAM_COLUMNS: readonly (readonly [
  name: string,
  cellOf: (stream: StreamLine) => number | null,
])[] = [
  ['chunks', (stream) => stream.chunks],
  ['first_caution_seq', (stream) => stream.first_caution_seq],
  ['shown_share_at_caution', (stream) => stream.shown_share_at_caution],
  ['first_flagged_seq', (stream) => stream.first_flagged_seq],
  ['shown_share_at_flag', (stream) => stream.shown_share_at_flag],
];

/** The columns of verdicts.csv. */
export function verdictColumns(withStreams: boolean): readonly string[] {
  return withStreams ? [...COLUMNS, ...STREAM_COLUMNS.map(([name]) => name)] : COLUMNS;
}

/** The row of an outcome in verdicts.csv. */
export function verdictCells(line: OutcomeLine, withStreams: boolean): Cell[] {
  const { source, error, stream, subcategory_scores: scores } = line;
  const cells: Cell[] = [line.seq, source.path, source.row, source.line, line.id];
  cells.push(line.part, line.turn, line.decision, line.decided_by, line.score);
  for (const key of CATEGORY_KEYS) cells.push(scores?.[key]);
  cells.push(coverageText(line), line.endpoint, line.fingerprint, error?.code, error?.message);
  cells.push(spreadsheetTime(line.moderated_at));
  if (withStreams) for (const [, cellOf] of STREAM_COLUMNS) cells.push(stream && cellOf(stream));
  return cells;
}

/** How much was judged, such as `12 of 12 chars`; null for an error. */
export function coverageText({ coverage }: OutcomeLine): string | null {
  return coverage && `${coverage.judged} of ${coverage.total} ${coverage.unit}`;
}

/** ISO 8601 as a date and time that spreadsheets recognise, to the second. */
export function spreadsheetTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
