import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Cell } from '../tables/csv.ts';

const MINORS = 'child_sexual_exploitation';
const SEXUAL = 'sexual_content';

type Flags = Pick<OutcomeLine, 'subcategory_flags' | 'subcategory_scores' | 'decided_by'>;

/**
 * The category that restricts an item: Child Sexual Exploitation, or Sexual Content if the guard gave no score for the
 * former, so that it may be either. Null for any other item. Such items are listed apart, and never shown.
 */
export function restrictedBy(line: Flags): typeof MINORS | typeof SEXUAL | null {
  const isFlaggedFor = (category: string): boolean =>
    line.subcategory_flags?.includes(category) === true ||
    line.decided_by?.startsWith(`${category}>=`) === true;
  if (isFlaggedFor(MINORS)) return MINORS;
  return isFlaggedFor(SEXUAL) && line.subcategory_scores?.[MINORS] === undefined ? SEXUAL : null;
}

/** The columns of restricted.csv. */
export const RESTRICTED_COLUMNS = [
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

/** The row of a restricted item: where it is, and nothing of what it holds. */
export function restrictedCells(line: OutcomeLine): Cell[] {
  const { seq, source, id, part, turn, decision } = line;
  const { path, row, line: at, sha256 } = source;
  return [seq, path, row, at, id, part, turn, decision, restrictedBy(line), sha256];
}
