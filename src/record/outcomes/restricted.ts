import type { OutcomeLine } from '../../domain/outcome.ts';
import { csvRow, TABLE_START } from './spreadsheet.ts';

const MINORS = 'child_sexual_exploitation';
const SEXUAL = 'sexual_content';

/**
 * The category that restricts an item: Child Sexual Exploitation, or Sexual Content if the guard gave no score for the
 * former, so that it may be either. Null for any other item. Such items are listed apart, and never shown.
 */
export function restrictedBy(line: OutcomeLine): typeof MINORS | typeof SEXUAL | null {
  const isFlaggedFor = (category: string): boolean =>
    line.subcategory_flags?.includes(category) === true ||
    line.decided_by?.startsWith(`${category}>=`) === true;
  if (isFlaggedFor(MINORS)) return MINORS;
  return isFlaggedFor(SEXUAL) && line.subcategory_scores?.[MINORS] === undefined ? SEXUAL : null;
}

const COLUMNS = [
  'seq',
  'path',
  'row',
  'line',
  'id',
  'part',
  'turn',
  'decision',
  'category',
  'file_sha256',
] as const;

/** First line of restricted.csv. */
export const RESTRICTED_HEAD = `${TABLE_START}${COLUMNS.join(',')}\r\n`;

/** The row of a restricted item: where it is, and nothing of what it holds. */
export function restrictedRow(line: OutcomeLine): string {
  const { seq, source, id, part, turn, decision } = line;
  return csvRow([
    seq,
    source.path,
    source.row,
    source.line,
    id,
    part,
    turn,
    decision,
    restrictedBy(line),
    source.sha256,
  ]);
}
